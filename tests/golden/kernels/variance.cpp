struct Arguments {
    const Array *x;
    int64 x_stride_0;
    const Array *scaled_out;
    int64 scaled_out_stride_0;
    int64 extent_0;
    int64 extent_1;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    for (int64 row = begin; row < end; ++row) {
        const float64 *x_data = (const float64 *)arguments->x->data + row * arguments->x_stride_0;
        float64 *scaled_out_data = (float64 *)arguments->scaled_out->data + row * arguments->scaled_out_stride_0;
        Pairwise<Sum, float64> mean_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            mean_parts.add(reduce_block<Sum>(x_data + start, stop - start));
        }
        const float64 mean = mean_parts.total() / (float64)extent_1;
        Pairwise<Sum, float64> variance_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            alignas(64) float64 variance_block[1024];
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float64 x = x_data[i];
                const float64 difference = np_subtract(x, mean);
                const float64 square = np_square(difference);
                variance_block[i - start] = square;
            }
            variance_parts.add(reduce_block<Sum>(variance_block, stop - start));
        }
        const float64 variance = variance_parts.total() / (float64)extent_1;
        const float64 deviation = np_sqrt(variance);
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            const float64 x = x_data[i];
            const float64 difference = np_subtract(x, mean);
            const float64 scaled = np_divide(difference, deviation);
            scaled_out_data[i] = scaled;
        }
    }
}
