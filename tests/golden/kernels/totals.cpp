struct Arguments {
    const Array *x;
    const Array *square_out;
    int64 extent_0;
    const Array *total_partials;
    const Array *top_partials;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const float32 *x_data = (const float32 *)arguments->x->data;
    float32 *square_out_data = (float32 *)arguments->square_out->data;
    for (int64 block = begin; block < end; ++block) {
        const int64 start = block * 1024;
        const int64 stop = smaller(start + 1024, extent_0);
        alignas(64) float32 total_block[1024];
        INDEPENDENT
        for (int64 i = start; i < stop; ++i) {
            const float32 x = x_data[i];
            const float32 square = np_multiply(x, x);
            square_out_data[i] = square;
            total_block[i - start] = square;
        }
        ((float32 *)arguments->total_partials->data)[block] = reduce_block<Sum>(total_block, stop - start);
        ((float32 *)arguments->top_partials->data)[block] = reduce_block<Maximum>(x_data + start, stop - start);
    }
}

extern "C" void region_combine(const Arguments *arguments, int64 count) {
    combine<Sum, float32>(arguments->total_partials, count);
    combine<Maximum, float32>(arguments->top_partials, count);
}
