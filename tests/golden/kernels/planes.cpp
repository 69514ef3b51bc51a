struct Arguments {
    const Array *x;
    int64 x_stride_0;
    int64 x_stride_1;
    int64 x_step;
    const Array *scaled_out;
    int64 scaled_out_stride_0;
    int64 scaled_out_stride_1;
    const Array *mean_out;
    int64 mean_out_stride_0;
    int64 mean_out_stride_1;
    int64 extent_0;
    int64 extent_1;
    int64 extent_2;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 x_step = arguments->x_step;
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 extent_2 = arguments->extent_2;
    const int64 lines = extent_1;
    float64 *root_rows = (float64 *)scratch;
    for (int64 row = begin; row < end; ++row) {
        float64 *mean_out_data = (float64 *)arguments->mean_out->data + row * arguments->mean_out_stride_0;
        const float64 *x_base = (const float64 *)arguments->x->data + row * arguments->x_stride_0;
        float64 *scaled_out_base = (float64 *)arguments->scaled_out->data + row * arguments->scaled_out_stride_0;
        Pairwise<Sum, float64> mean_parts;
        for (int64 line = 0; line < lines; ++line) {
            const float64 *x_data = x_base + line * arguments->x_stride_1;
            float64 *scaled_out_data = scaled_out_base + line * arguments->scaled_out_stride_1;
            float64 *root_row = root_rows + line * extent_2;
            for (int64 start = 0; start < extent_2; start += 1024) {
                const int64 stop = smaller(start + 1024, extent_2);
                alignas(64) float64 mean_block[1024];
                INDEPENDENT
                for (int64 i = start; i < stop; ++i) {
                    const float64 x = x_data[i * x_step];
                    mean_block[i - start] = x;
                }
                mean_parts.add(reduce_block<Sum>(mean_block, stop - start));
            }
        }
        const float64 mean = mean_parts.total() / (float64)(extent_1 * extent_2);
        Pairwise<Sum, float64> total_parts;
        for (int64 line = 0; line < lines; ++line) {
            const float64 *x_data = x_base + line * arguments->x_stride_1;
            float64 *scaled_out_data = scaled_out_base + line * arguments->scaled_out_stride_1;
            float64 *root_row = root_rows + line * extent_2;
            for (int64 start = 0; start < extent_2; start += 1024) {
                const int64 stop = smaller(start + 1024, extent_2);
                INDEPENDENT
                for (int64 i = start; i < stop; ++i) {
                    const float64 x = x_data[i * x_step];
                    const float64 difference = np_subtract(x, mean);
                    const float64 root = np_sqrt(difference);
                    root_row[i] = root;
                }
                total_parts.add(reduce_block<Sum>(root_row + start, stop - start));
            }
        }
        const float64 total = total_parts.total();
        for (int64 line = 0; line < lines; ++line) {
            const float64 *x_data = x_base + line * arguments->x_stride_1;
            float64 *scaled_out_data = scaled_out_base + line * arguments->scaled_out_stride_1;
            float64 *root_row = root_rows + line * extent_2;
            INDEPENDENT
            for (int64 i = 0; i < extent_2; ++i) {
                const float64 root = root_row[i];
                const float64 scaled = np_divide(root, total);
                scaled_out_data[i] = scaled;
            }
        }
        *mean_out_data = mean;
    }
}
