/* Values from files and to files: NumPy's format .npy, versions 1 to 3, as `numpy.lib.format` documents it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "model.h"

static const char *const descr_of[TH_NDTYPES] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4",
                                                 "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"};

static int file_error(theano_model *model, const char *path, const char *what) {
    return th_model_fail(model, THEANO_ERR_FILE, "%.600s: %s", path, what);
}

/* What follows a key of the header, which is a dictionary of Python's. */
static const char *after(const char *header, const char *key) {
    const char *found = strstr(header, key);
    const char *colon = found ? strchr(found, ':') : NULL;
    return colon ? colon + 1 + strspn(colon + 1, " ") : NULL;
}

static const char *parse(const char *header, const th_model_cell *expected, int64_t *shape, int *fortran) {
    const char *descr = after(header, "'descr'"), *order = after(header, "'fortran_order'"), *at = after(header, "'shape'");
    const char *wanted = descr_of[expected->dtype];
    if (!descr || !order || !at || *at != '(') return "the header is not that of a .npy file";
    if (strncmp(descr + 1, wanted, strlen(wanted)) || descr[1 + strlen(wanted)] != '\'') return "the elements are of another dtype";
    *fortran = *order == 'T';
    ++at;
    for (int d = 0;; ++d) {
        char *end;
        at += strspn(at, " ,");
        if (*at == ')') return d == expected->ndim ? NULL : "the array has another number of dimensions";
        if (d == expected->ndim) return "the array has another number of dimensions";
        shape[d] = strtoll(at, &end, 10);
        if (end == at || shape[d] < 0) return "the header is not that of a .npy file";
        if ((expected->ones >> d & 1) && shape[d] != 1) return "the array has another length than 1 where its type says 1";
        at = end;
    }
}

/* The elements of an array in Fortran's order, put into C order. */
static void turn(char *to, const char *from, const th_buffer *like) {
    int64_t strides[TH_MAX_NDIM], step = like->itemsize;
    th_buffer turned = *like;
    for (int d = 0; d < like->ndim; step *= like->shape[d], ++d) strides[d] = step;
    turned.data = (char *)(intptr_t)from;
    turned.strides = strides;
    th_model_copy(to, &turned);
}

static const char *read_all(FILE *file, const th_model_cell *expected, th_model_value *value) {
    unsigned char magic[12];
    char *header;
    const char *problem;
    size_t length, bytes;
    int64_t elements;
    int fortran = 0;
    if (fread(magic, 1, 8, file) != 8 || memcmp(magic, "\x93NUMPY", 6)) return "it is no .npy file";
    if (fread(magic + 8, 1, magic[6] == 1 ? 2 : 4, file) != (size_t)(magic[6] == 1 ? 2 : 4)) return "it is no .npy file";
    length = magic[8] | (size_t)magic[9] << 8;
    if (magic[6] > 1) length |= (size_t)magic[10] << 16 | (size_t)magic[11] << 24;
    header = (char *)calloc(length + 1, 1);
    if (!header) return "not enough memory to read it";
    problem = fread(header, 1, length, file) == length ? parse(header, expected, value->buf.shape, &fortran) : "it is no .npy file";
    free(header);
    if (problem) return problem;
    elements = th_count_elements(value->buf.ndim, value->buf.itemsize, value->buf.shape);
    if (elements < 0) return "it has more bytes than can be addressed";
    th_lay_out(&value->buf, value->buf.shape);
    bytes = (size_t)(elements * value->buf.itemsize);
    if (!(value->block = th_model_block_new(bytes))) return "not enough memory to read it";
    value->buf.data = value->block->data;
    if (fread(value->block->data, 1, bytes, file) != bytes) return "it ends too early";
    if (fortran && bytes) {
        th_model_block *read = value->block, *turned = th_model_block_new(bytes);
        if (!turned) return "not enough memory to read it";
        turn(turned->data, read->data, &value->buf);
        value->block = turned;
        value->buf.data = turned->data;
        th_model_block_release(read);
    }
    return NULL;
}

int th_model_read_npy(theano_model *model, const char *path, const th_model_cell *expected, th_model_value *value) {
    const char *problem;
    FILE *file = fopen(path, "rb");
    if (!file) return file_error(model, path, strerror(errno));
    problem = read_all(file, expected, value);
    fclose(file);
    return problem ? file_error(model, path, problem) : 0;
}

/* Written beside the old file, which is replaced when all is there. */
int th_model_write_npy(theano_model *model, const char *path, const th_buffer *value) {
    char header[64 * (TH_MAX_NDIM / 2 + 2)], beside[4096 + 8];
    int used, written;
    size_t bytes = (size_t)(th_count_elements(value->ndim, value->itemsize, value->shape) * value->itemsize);
    th_model_block *packed = th_model_block_new(bytes);
    FILE *file;
    if (!packed) return th_model_fail(model, TH_ERR_MEMORY, "no memory to write %.600s", path);
    th_model_copy(packed->data, value);
    used = snprintf(header, sizeof header, "\x93NUMPY\1%cxx{'descr': '%s', 'fortran_order': False, 'shape': (", 0, descr_of[value->dtype]);
    for (int d = 0; d < value->ndim; ++d) used += snprintf(header + used, sizeof header - (size_t)used, "%lld,", (long long)value->shape[d]);
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    while ((used + 1) % 64) header[used++] = ' ';
    header[used++] = '\n';
    header[7] = 0;
    header[8] = (char)((used - 10) & 255);
    header[9] = (char)((used - 10) >> 8);
    snprintf(beside, sizeof beside, "%s.new", path);
    file = fopen(beside, "wb");
    written = file && fwrite(header, 1, (size_t)used, file) == (size_t)used && fwrite(packed->data, 1, bytes, file) == bytes;
    if (file) written = (fclose(file) == 0) && written;
    th_model_block_release(packed);
    if (written && rename(beside, path) == 0) return 0;
    used = errno;
    remove(beside);
    return file_error(model, path, strerror(used));
}
