/* Calls an exported model: ./caller FOLDER. Reads the arrays `images` and `labels`, writes what the model makes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "all.h"

static void read_file(const char *path, void *to, size_t bytes) {
    FILE *file = fopen(path, "rb");
    if (!file || fread(to, 1, bytes, file) != bytes) exit(2);
    fclose(file);
}

static void write_array(const char *path, const theano_array *array, size_t itemsize) {
    size_t bytes = itemsize;
    char *packed;
    FILE *file = fopen(path, "wb");
    for (int d = 0; d < array->ndim; ++d) bytes *= (size_t)array->shape[d];
    packed = (char *)malloc(bytes);
    if (!file || !packed) exit(3);
    all_copy(array, packed);
    fwrite(packed, 1, bytes, file);
    fclose(file);
    free(packed);
}

static void check(theano_model *model, int code) {
    if (!code) return;
    fprintf(stderr, "%d: %s\n", code, all_message(model));
    exit(4);
}

int main(int argc, char **argv) {
    static float images[9 * 64];
    static int32_t labels[9];
    const int64_t shape[2] = {9, 64}, narrow[2] = {9, 60}, strides[2] = {64 * sizeof(float), sizeof(float)};
    char message[512];
    theano_model *model = all_open(argc > 1 ? argv[1] : ".", message, sizeof message);
    theano_array given[3] = {{images, THEANO_FLOAT32, 2, shape, NULL}, {labels, THEANO_INT32, 1, shape, NULL}, {NULL, 0, 0, NULL, NULL}};
    theano_array made[2];
    if (!model) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    read_file("images", images, sizeof images);
    read_file("labels", labels, sizeof labels);
    check(model, all_predict(model, given, made));
    write_array("before", made, sizeof(float));
    check(model, all_train(model, given, made)); /* the rate has a default value */
    write_array("loss", made, sizeof(float));

    given[0].shape = narrow; /* an error on the way has changed nothing */
    given[0].strides = strides;
    printf("code %d: ", all_predict(model, given, made));
    printf("%s\n", all_message(model));
    given[0].shape = shape;
    given[0].dtype = THEANO_FLOAT64;
    printf("code %d: ", all_predict(model, given, made));
    printf("%s\n", all_message(model));
    given[0].dtype = THEANO_FLOAT32;
    given[0].data = NULL;
    printf("code %d: ", all_predict(model, given, made));
    printf("%s\n", all_message(model));
    given[0].data = images;

    check(model, all_predict(model, given, made));
    write_array("after", made, sizeof(float));
    write_array("guess", made + 1, sizeof(int64_t));
    all_close(model);
    model = all_open("nowhere", message, sizeof message);
    printf("closed: %s\n", model ? "it is there" : message);
    return 0;
}
