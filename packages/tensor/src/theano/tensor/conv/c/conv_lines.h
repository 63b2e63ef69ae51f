/* Filters that are nearly as long as the image or have one line: products of matrices, of images in place.
 *
 * An element k of the filter and a result o meet at the pixel i = o step + k dilation - before. If one axis (or the batch)
 * lends its results as rows, and another one (or the channels) its elements as columns, such pixels are a matrix:
 *
 *   pixels (rows, columns)    filters (filter, columns)    results (filter, rows)
 *
 *   forward    results += filters times pixels' transpose
 *   by images  pixels  += results' transpose times filters
 *   by filters filters += results times pixels
 *
 * There is one such product for each index of what remains: an element of the axis of rows, a result of the axis of
 * columns, and a pair of both of a third axis. Rows and columns whose pixels are beside the image are left out, so that
 * no zero is multiplied: the gradient of a filter as wide as the image has one term where other ways have a row of them. */

enum { TH_LINES_FORWARD, TH_LINES_IMAGES, TH_LINES_FILTERS };

typedef struct {
    int along, across; /* the axis that lends rows, or -1: the batch; the one that lends columns, or -1: the channels */
} NAME(lines_axes);

typedef struct {
    const th_conv *c; /* of which the work is a part */
    int what;
    NAME(lines_axes) axes;
    int64_t pieces, batches, parts; /* of filters or channels, of the batch; of all of these and groups, by threads */
    char *space;
    int64_t space_bytes; /* of a part */
} NAME(lines);

/* The results that an element of the filter meets or, if `across`, the elements that a result meets: from *first on. */
INLINE int64_t NAME(line_met)(const th_conv_axis *z, int across, int64_t index, int64_t *first)
{
    const int64_t at = index * (across ? z->step : z->dilation) - z->before, step = across ? z->dilation : z->step;
    const int64_t count = across ? z->kernel : z->output, lo = at < 0 ? parts_of(-at, step) : 0;
    const int64_t hi = at >= z->image ? 0 : (z->image - 1 - at) / step + 1;
    *first = lo;
    return (hi < count ? hi : count) - lo;
}

/* The matrices of some rows and columns whose first numbers are there. */
INLINE void NAME(line_matrices)(const th_conv *c, NAME(lines_axes) axes, char *const *at, int64_t rows, int64_t columns, matrix *x, matrix *w, matrix *y)
{
    const int r = axes.along, q = axes.across;
    const int64_t x_row = r < 0 ? c->image.outer : c->axis[r].step * c->image.at[r], y_row = r < 0 ? c->output.outer : c->output.at[r];
    const int64_t x_col = q < 0 ? c->image.inner : c->axis[q].dilation * c->image.at[q];
    *x = (matrix){at[0], rows, columns, x_row, x_col};
    *w = (matrix){at[1], c->filters, columns, c->kernel.outer, q < 0 ? c->kernel.inner : c->kernel.at[q]};
    *y = (matrix){at[2], c->filters, rows, c->output.inner, y_row};
}

/* The product a b that is added to c. */
INLINE void NAME(line_factors)(int what, matrix x, matrix w, matrix y, matrix *a, matrix *b, matrix *c)
{
    *a = what == TH_LINES_FORWARD ? w : what == TH_LINES_IMAGES ? turned(y) : y;
    *b = what == TH_LINES_FORWARD ? turned(x) : what == TH_LINES_IMAGES ? w : x;
    *c = what == TH_LINES_FORWARD ? y : what == TH_LINES_IMAGES ? x : w;
}

/* to += left right. Products with one row, column or term are read in the order of their matrix in memory. */
static void NAME(add_product)(char *space, matrix left, matrix right, matrix to)
{
    const int64_t size = sizeof(T);
    const T one = 1;
    /* One term: rows of the product had better be long; more of them: they meet one column. */
    if (left.cols == 1 ? right.cols == 1 : left.rows == 1 && right.cols > 1) {
        const matrix first = left;
        left = turned(right), right = turned(first), to = turned(to);
    }
    if (left.cols == 1 && NAME(th_ger)(NULL, 1, NULL, left.data, left.row, right.data, right.col, &one, to, to) == 0)
        return;
    /* For other matrices th_gemv makes a copy, for which space is missing here. */
    const int by_rows = left.col == size && right.row == size && left.cols <= 2 * TH_GEMM_LONG_PIECE;
    const int by_columns = left.col != size && left.row == size && to.row == size;
    if (right.cols == 1 && (by_rows || by_columns) &&
        NAME(th_gemv)(NULL, 1, NULL, left, right.data, right.row, &one, to.data, to.row, to.data, to.row) == 0)
        return;
    NAME(th_gemm_within)(space, NULL, left, right, &one, to, to);
}

/* All products from axis `d` on. */
static void NAME(add_lines)(const th_conv *c, const NAME(lines) *j, int d, char *x, char *w, char *y, int64_t rows, int64_t columns, char *space)
{
    if (d == TH_CONV_AXES) {
        char *const at[] = {x, w, y};
        matrix of[3], left, right, to;
        NAME(line_matrices)(c, j->axes, at, rows, columns, of, of + 1, of + 2);
        NAME(line_factors)(j->what, of[0], of[1], of[2], &left, &right, &to);
        NAME(add_product)(space, left, right, to);
        return;
    }
    const th_conv_axis *z = c->axis + d;
    const int across = j->axes.across == d;
    if (across && j->axes.along == d) {
        NAME(add_lines)(c, j, d + 1, x, w, y, z->output, z->kernel, space);
        return;
    }
    const int64_t x_step = z->step * c->image.at[d], w_step = c->kernel.at[d], y_step = c->output.at[d];
    for (int64_t i = 0; i < (across ? z->output : z->kernel); ++i) {
        int64_t first;
        const int64_t met = NAME(line_met)(z, across, i, &first), k = across ? first : i, o = across ? i : first;
        char *xi = x + (o * z->step + k * z->dilation - z->before) * c->image.at[d], *wi = w + k * w_step, *yi = y + o * y_step;
        if (met <= 0)
            continue;
        if (across || j->axes.along == d)
            NAME(add_lines)(c, j, d + 1, xi, wi, yi, across ? rows : met, across ? met : columns, space);
        else
            for (int64_t t = 0; t < met; ++t)
                NAME(add_lines)(c, j, d + 1, xi + t * x_step, wi, yi + t * y_step, rows, columns, space);
    }
}

/* Zeros for the numbers of a sum: `outer` times `inner` planes. */
static void NAME(clear_lines)(const th_conv *c, int what, int64_t first, int64_t outer, int64_t inner)
{
    const th_conv_array *a = what == TH_LINES_IMAGES ? &c->image : what == TH_LINES_FORWARD ? &c->output : &c->kernel;
    int64_t n[TH_CONV_AXES];
    for (int d = 0; d < TH_CONV_AXES; ++d)
        n[d] = what == TH_LINES_IMAGES ? c->axis[d].image : what == TH_LINES_FORWARD ? c->axis[d].output : c->axis[d].kernel;
    for (int64_t i = 0; i < outer * inner; ++i)
        for (int64_t r = 0; r < n[0] * n[1]; ++r) {
            char *row = a->data + (first + i / inner) * a->outer + i % inner * a->inner + r / n[1] * a->at[0] + r % n[1] * a->at[1];
            if (a->at[2] == (int64_t)sizeof(T))
                memset(row, 0, (size_t)n[2] * sizeof(T));
            else
                for (int64_t k = 0; k < n[2]; ++k)
                    memset(row + k * a->at[2], 0, sizeof(T));
        }
}

/* Item i: a piece of the filters or channels of a group, for a piece of the batch. */
static void NAME(line_item)(const NAME(lines) *j, int64_t i, char *space)
{
    th_conv c = *j->c;
    const int64_t b = i % j->batches, piece = i / j->batches % j->pieces, g = i / j->batches / j->pieces;
    const int64_t from = part_at(c.batch, j->batches, b), end = part_at(c.batch, j->batches, b + 1);
    const int images = j->what == TH_LINES_IMAGES, filters = j->what == TH_LINES_FILTERS;
    int64_t *lines = images ? &c.channels : &c.filters;
    const int64_t line = part_at(*lines, j->pieces, piece), many = part_at(*lines, j->pieces, piece + 1) - line;
    const int64_t filter = g * c.filters + (images ? 0 : line), channel = images ? line : 0;
    c.image.data += from * c.image.outer + (g * c.channels + channel) * c.image.inner;
    c.output.data += from * c.output.outer + filter * c.output.inner;
    c.kernel.data += filter * c.kernel.outer + channel * c.kernel.inner;
    *lines = many;
    if (filters)
        NAME(clear_lines)(&c, j->what, 0, many, c.channels);
    const int64_t rows = j->axes.along < 0 ? end - from : 1, columns = j->axes.across < 0 ? c.channels : 1;
    for (int64_t n = 0; n < end - from; n += rows) {
        if (!filters)
            NAME(clear_lines)(&c, j->what, n, rows, many);
        for (int64_t k = 0; k < c.channels; k += columns)
            NAME(add_lines)(&c, j, 0, c.image.data + n * c.image.outer + k * c.image.inner, c.kernel.data + k * c.kernel.inner,
                            c.output.data + n * c.output.outer, rows, columns, space);
    }
    for (int64_t n = from; j->what == TH_LINES_FORWARD && n < end; ++n)
        th_conv_finish(&c, n, filter, many, 0, c.axis[0].output * c.axis[1].output * c.axis[2].output);
}

/* Parts lo to hi of all items. */
static void NAME(line_parts)(void *arg, int64_t lo, int64_t hi)
{
    const NAME(lines) *j = arg;
    const int64_t items = j->c->groups * j->pieces * j->batches;
    for (int64_t part = lo; part < hi; ++part)
        for (int64_t i = part_at(items, j->parts, part); i < part_at(items, j->parts, part + 1); ++i)
            NAME(line_item)(j, i, j->space + part * j->space_bytes);
}

/* -- the choice ------------------------------------------------------------------------------------------ */

/* The pairs of an element and a result that meet a pixel of the image. */
static double NAME(pairs_met)(const th_conv_axis *z)
{
    double pairs = 0;
    for (int64_t k = 0; k < z->kernel; ++k) {
        int64_t first;
        const int64_t met = NAME(line_met)(z, 0, k, &first);
        pairs += met > 0 ? (double)met : 0;
    }
    return pairs;
}

/* This many numbers in whole vectors. */
INLINE double NAME(filled)(double n)
{
    const double vectors = n / (double)LANES;
    return (vectors <= 1 ? 1 : vectors + (vectors > (double)(int64_t)vectors ? 0.5 : 0)) * (double)LANES;
}

/* What a product takes, in multiplications. A number of the result is read and written; a right factor whose columns are no
 * neighbours is copied; where there is one row or column, each number of the other factor is read for one multiplication. */
static double NAME(product_cost)(matrix left, matrix right, matrix to)
{
    const int64_t size = sizeof(T);
    const double m = (double)to.rows, n = (double)to.cols, terms = (double)left.cols;
    if (to.rows == 1 || to.cols == 1) {
        const matrix all_of = to.rows == 1 ? turned(right) : left, one = to.rows == 1 ? turned(left) : right;
        const int64_t step = to.rows == 1 ? to.col : to.row;
        if (all_of.col == size && one.row == size)
            return 5000 + (3 * NAME(filled)(terms) + (step == size ? 60 : 200)) * m * n;
        if (all_of.row == size && step == size)
            return 5000 + (3 * NAME(filled)(m * n) + 30) * terms;
    }
    const double as_is = NAME(filled)(n) * m, turned_is = NAME(filled)(m) * n;
    const int sideways = to.col == size ? as_is > 2 * turned_is : to.row == size ? 2 * as_is > turned_is : as_is > turned_is;
    const int copied = sideways ? left.row != size : right.col != size;
    return 12000 + 1.1 * (sideways ? turned_is : as_is) * (terms + ((sideways ? to.row : to.col) == size ? 8 : 60)) +
           (copied ? 25 * terms * (sideways ? m : n) : 0);
}

/* What all products take that have such rows and columns. */
static double NAME(lines_cost)(const th_conv *c, int what, NAME(lines_axes) axes, const double *pairs, int64_t batches)
{
    double calls = (double)(axes.along < 0 ? batches : c->batch) * (double)(axes.across < 0 ? 1 : c->channels);
    double rows = (double)c->batch / (double)batches, columns = (double)c->channels;
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        const double elements = (double)c->axis[a].kernel, results = (double)c->axis[a].output;
        if (axes.along == a)
            rows = pairs[a] / elements;
        if (axes.across == a)
            columns = pairs[a] / results;
        calls *= axes.along == a ? (axes.across == a ? 1 : elements) : axes.across == a ? results : pairs[a];
    }
    char *const at[] = {NULL, NULL, NULL};
    matrix x, w, y, left, right, to;
    NAME(line_matrices)(c, axes, at, (int64_t)(rows + 0.5), (int64_t)(columns + 0.5), &x, &w, &y);
    NAME(line_factors)(what, x, w, y, &left, &right, &to);
    return calls * NAME(product_cost)(left, right, to);
}

/* The cost of a copy of this many numbers in another order, in multiplications: it grows with their number and distance. */
INLINE double NAME(copy_cost)(double count) { return count * (count * sizeof(T) > 4e6 ? 120 : 30); }

/* What the other ways take, of which the zeros around images are a part, and what is laid out anew. */
static double NAME(others_cost)(const th_conv *c, int what)
{
    const th_conv_axis *z = c->axis;
    const int images = what == TH_LINES_IMAGES, filters = what == TH_LINES_FILTERS;
    const int64_t inputs = images ? c->filters : c->channels, outputs = images ? c->channels : c->filters;
    const int64_t width = images ? z[2].image : z[2].output;
    double image = (double)c->batch, output = (double)c->batch, met = (double)c->batch, elements = 1;
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        image *= (double)z[a].image;
        output *= (double)z[a].output;
        elements *= (double)z[a].kernel;
        met *= (double)z[a].kernel * (double)(images ? z[a].image : z[a].output);
    }
    const double work = met * (double)inputs, of_image = NAME(copy_cost)(image * (double)c->channels);
    const double of_output = NAME(copy_cost)(output * (double)c->filters) / (z[2].output < SQUARE ? 1 : 3);
    if (filters ? NAME(weighs_planes)(c) : NAME(suits_planes)(c, inputs, outputs, width))
        return work * (double)outputs * (filters ? 2.5 : outputs < 4 ? 2.0 : 1.15) * (double)(parts_of(width, LANES) * LANES) / (double)width +
               (of_image + of_output) / (z[2].step > 1 ? 1 : 4);
    if (NAME(suits_tiles)(c, inputs, outputs, images))
        return work * (double)outputs / 2;
    double steps = 1;
    for (int a = 0; images && a < TH_CONV_AXES; ++a)
        steps *= z[a].image < z[a].step || z[a].kernel < z[a].step ? 1 : (double)z[a].step;
    /* Tiles of few rows read more than they multiply, and each run of terms has a beginning. */
    const double rows = (double)(filters ? inputs : width), terms = (double)(filters ? width : inputs * z[2].kernel);
    const double tile = (rows < ROWS ? rows : ROWS) * (double)(outputs < COLUMNS ? parts_of(outputs, LANES) : VECTORS);
    return work * (double)(parts_of(outputs, LANES) * LANES) / steps * (1.1 + (rows < 4 ? 1.7 / rows : 0) + 20 / (terms * tile)) +
           of_image + of_output + NAME(copy_cost)(elements * (double)(inputs * outputs));
}

static int64_t NAME(line_batches)(const th_conv *c, NAME(lines_axes) axes, int what)
{
    const int64_t most = axes.along < 0 ? parts_of(c->batch, 2 * TALL) : c->batch;
    return what == TH_LINES_FILTERS ? 1 : most < TH_CONV_PARTS ? most : TH_CONV_PARTS;
}

/* Join rows: where the filter has whole rows of the image, these are one axis with the one before. Of the gradient by images
 * the results that meet a pixel must not be in one product. */
static th_conv NAME(with_rows_joined)(const th_conv *from, int what)
{
    th_conv c = *from;
    c.kernel.at[2] = sizeof(T); /* as forwards() lays filters */
    for (int a = TH_CONV_AXES - 1; a > 0; --a)
        c.kernel.at[a - 1] = c.kernel.at[a] * c.axis[a].kernel;
    c.kernel.inner = c.kernel.at[0] * c.axis[0].kernel;
    c.kernel.outer = c.kernel.inner * c.channels;
    c.flip = 0;
    for (int times = 0; times < TH_CONV_AXES - 1; ++times) {
        const th_conv_axis in = c.axis[2], out = c.axis[1];
        const int64_t n = in.image;
        if (in.output != 1 || in.kernel != n || in.before || in.dilation != 1 || (out.dilation != 1 && n > 1))
            break;
        if (n > 1 && ((out.image > 1 && c.image.at[1] != n * c.image.at[2]) || (what == TH_LINES_IMAGES && out.output > 1)))
            break;
        c.axis[2] = (th_conv_axis){out.image * n, out.kernel * n, out.output, out.before * n, out.after * n, out.step * n, n > 1 ? 1 : out.dilation};
        c.image.at[2] = n == 1 ? c.image.at[1] : c.image.at[2];
        c.kernel.at[2] = n == 1 ? c.kernel.at[1] : c.kernel.at[2];
        c.output.at[2] = c.output.at[1];
        c.axis[1] = c.axis[0];
        c.image.at[1] = c.image.at[0], c.kernel.at[1] = c.kernel.at[0], c.output.at[1] = c.output.at[0];
        c.axis[0] = (th_conv_axis){1, 1, 1, 0, 0, 1, 1};
    }
    return c;
}

/* `n` numbers `step` bytes apart, into neighbours; or back. */
static void NAME(copy_even)(char *strided, int64_t step, T *plain, int64_t n, int back)
{
    if (step == (int64_t)sizeof(T)) {
        memcpy(back ? strided : (char *)plain, back ? (char *)plain : strided, (size_t)n * sizeof(T));
    } else if (step == -(int64_t)sizeof(T) && (intptr_t)strided % (int64_t)sizeof(T) == 0) {
        T *backwards = (T *)strided - (n - 1);
        for (int64_t i = 0; i < n; ++i)
            *(back ? backwards + i : plain + i) = *(back ? plain + n - 1 - i : backwards + n - 1 - i);
    } else {
        for (int64_t i = 0; i < n; ++i)
            memcpy(back ? strided + i * step : (char *)(plain + i), back ? (char *)(plain + i) : strided + i * step, sizeof(T));
    }
}

/* Filters with their elements in the order of pixels, row by row: (filter, channel, elements...); or back. */
static void NAME(forwards)(const th_conv *c, char *to, int back)
{
    int64_t k[TH_CONV_AXES] = {0}, n = 1, step = 0;
    int first = TH_CONV_AXES; /* the axis from which on elements are evenly spaced */
    while (first > 0 && (c->axis[first - 1].kernel == 1 || step == 0 || c->kernel.at[first - 1] == n * step)) {
        const int64_t own = c->axis[--first].kernel;
        step = step == 0 && own > 1 ? c->kernel.at[first] : step;
        n *= own;
    }
    T *plain = (T *)to;
    const int64_t rest0 = first > 0 ? c->axis[0].kernel : 1, rest1 = first > 1 ? c->axis[1].kernel : 1;
    for (int64_t i = 0; i < c->groups * c->filters * c->channels; ++i) {
        char *filter = c->kernel.data + i / c->channels * c->kernel.outer + i % c->channels * c->kernel.inner;
        for (k[0] = 0; k[0] < rest0; ++k[0])
            for (k[1] = 0; k[1] < rest1; ++k[1], plain += n)
                NAME(copy_even)(filter + NAME(element_at)(c, k), c->flip ? -step : step, plain, n, back);
    }
}

/* The best axes for such products, if they take less time than other ways. */
static int NAME(suits_lines)(const th_conv *c, int what, NAME(lines_axes) *axes)
{
    double pairs[TH_CONV_AXES], least = 0;
    if (c->batch == 0 || c->channels == 0 || c->filters == 0)
        return 0;
    const th_conv lines = NAME(with_rows_joined)(c, what);
    for (int a = 0; a < TH_CONV_AXES; ++a) {
        pairs[a] = NAME(pairs_met)(lines.axis + a);
        if (pairs[a] == 0)
            return 0;
    }
    for (int r = -1; r < TH_CONV_AXES; ++r)
        for (int q = -1; q < TH_CONV_AXES; ++q) {
            const NAME(lines_axes) these = {r, q};
            if ((r >= 0 && lines.axis[r].output == 1) || (q >= 0 && lines.axis[q].kernel == 1))
                continue;
            const double all_pairs = r < 0 ? 0 : (double)lines.axis[r].kernel * (double)lines.axis[r].output;
            if (r >= 0 && r == q && (what == TH_LINES_IMAGES || pairs[r] < all_pairs))
                continue;
            const double cost = NAME(lines_cost)(&lines, what, these, pairs, NAME(line_batches)(c, these, what));
            if (least == 0 || cost < least) {
                least = cost;
                *axes = these;
            }
        }
    least += NAME(copy_cost)((double)(c->filters * lines.kernel.outer) / sizeof(T)) / 2;
    return least < 0.7 * NAME(others_cost)(c, what);
}

/* The space for copies that products of all sizes take. */
static int64_t NAME(lines_space)(const NAME(lines) *j)
{
    const th_conv *c = j->c;
    const int r = j->axes.along, q = j->axes.across, images = j->what == TH_LINES_IMAGES;
    int64_t most = 0, rows = 0, columns = 0, first;
    for (int64_t i = 0; i < (r < 0 ? 2 : c->axis[r].kernel); ++i) {
        const int64_t met = r < 0 ? c->batch / j->batches + i : r == q ? c->axis[r].output : NAME(line_met)(c->axis + r, 0, i, &first);
        if (met == rows)
            continue;
        rows = met;
        columns = 0;
        for (int64_t k = 0; k < (q < 0 ? 1 : c->axis[q].output); ++k) {
            const int64_t across = q < 0 ? c->channels : r == q ? c->axis[q].kernel : NAME(line_met)(c->axis + q, 1, k, &first);
            if (across == columns)
                continue;
            columns = across;
            for (int64_t more = 0; more < 2; ++more) {
                char *const at[] = {c->image.data, c->kernel.data, c->output.data};
                matrix x, w, y, left, right, to;
                NAME(line_matrices)(c, j->axes, at, rows, columns, &x, &w, &y);
                if (images && q < 0)
                    x.cols = w.cols = columns / j->pieces + more;
                else if (!images)
                    y.rows = w.rows = c->filters / j->pieces + more;
                NAME(line_factors)(j->what, x, w, y, &left, &right, &to);
                const int64_t bytes = rows > 0 && columns > 0 ? NAME(th_gemm_space)(left, right, to) : 0;
                most = bytes > most ? bytes : most;
            }
        }
    }
    return parts_of(most, 64) * 64;
}

static int NAME(convolve_lines)(th_ctx *ctx, const th_conv *c, int what, NAME(lines_axes) axes)
{
    th_conv joined = NAME(with_rows_joined)(c, what);
    NAME(lines) j = {.c = &joined, .what = what, .axes = axes, .batches = NAME(line_batches)(c, axes, what)};
    const int64_t lines = what == TH_LINES_IMAGES ? c->channels : c->filters, pieces = parts_of(lines, COLUMNS);
    j.pieces = what == TH_LINES_FILTERS || j.batches < 4 ? pieces : 1;
    double work = (double)(c->batch * c->groups * c->channels * c->filters);
    for (int a = 0; a < TH_CONV_AXES; ++a)
        work *= NAME(pairs_met)(c->axis + a);
    j.parts = th_conv_parts(c, work, c->groups * j.pieces * j.batches);
    j.space_bytes = NAME(lines_space)(&j);
    j.space = ctx->rt->scratch(ctx, (size_t)(j.parts * j.space_bytes) + 64);
    joined.kernel.data = ctx->rt->scratch(ctx, (size_t)(c->groups * c->filters * joined.kernel.outer) + 64);
    if (j.space == NULL || joined.kernel.data == NULL)
        return -1;
    if (what != TH_LINES_FILTERS)
        NAME(forwards)(c, joined.kernel.data, 0);
    if (th_conv_run(ctx, c, j.parts, NAME(line_parts), &j))
        return -1;
    if (what == TH_LINES_FILTERS)
        NAME(forwards)(c, joined.kernel.data, 1);
    return 0;
}
