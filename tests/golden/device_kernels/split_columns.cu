static __device__ __forceinline__ void region_sweep_0(
    const float32 x,
    float32 &r0_term,
    float32 &r1_term,
    float32 &r2_term
) {
    r0_term = x;
    r1_term = x;
    r2_term = x;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float32 *__restrict__ x_data,
    int32 x_stride_0,
    const float32 *__restrict__ w_data,
    int32 w_stride_0,
    float32 *__restrict__ r0_out_data,
    int32 r0_out_stride_0,
    float32 *__restrict__ r1_out_data,
    int32 r1_out_stride_0,
    int64 *__restrict__ r2_out_data,
    int32 r2_out_stride_0,
    float32 *__restrict__ rest_out_data,
    int32 rest_out_stride_0,
    int32 extent_0,
    int32 extent_1,
    float32 *r0_partials,
    float32 *r1_partials,
    Place<float32> *r2_partials,
    uint32 *ticket
) {
    const int32 results = extent_1;
    {
        const int32 tiles = (extent_1 + 7) / 8;
        const int32 row = (int32)blockIdx.x / tiles;
        const int32 own = ((int32)blockIdx.x - row * tiles) * 8 + (int32)threadIdx.x;
        const bool is_inside = own < extent_1;
        const int32 column = is_inside ? own : extent_1 - 1;
        const int32 lines = extent_0;
        const float32 *x_base = x_data;
        float32 r0_sums[1] = {(float32)0x0.0p+0};
        float32 r1_sums[1] = {np_from_bits((uint32)0xff800000u)};
        Place<float32> r2_sums[1] = {Place<float32>{np_from_bits((uint32)0xff800000u), 9223372036854775807}};
        #pragma unroll 1
        for (int32 start = (int32)blockIdx.y * 128; start < lines;) {
            float32 r0_parts[1] = {(float32)0x0.0p+0};
            #pragma unroll 1
            for (int turn = 0; turn < 64 && start < lines; ++turn, start += (int32)gridDim.y * 128) {
                Vector<float32, 1> x_vectors[4];
                #pragma unroll
                for (int unit = 0; unit < 4; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.y;
                    const int32 first = at;
                    const int32 line = first < lines ? first : 0;
                    const int32 index_0 = line;
                    const float32 *x_row = x_base + index_0 * x_stride_0;
                    x_vectors[unit].lanes[0] = x_row[column];
                }
                #pragma unroll
                for (int unit = 0; unit < 4; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.y;
                    const int32 first = at;
                    float32 r0_term;
                    float32 r1_term;
                    float32 r2_term;
                    region_sweep_0(x_vectors[unit].lanes[0], r0_term, r1_term, r2_term);
                    if (first < lines) {
                        r0_parts[0] = Sum::combine(r0_parts[0], r0_term);
                        r1_sums[0] = Maximum::combine(r1_sums[0], r1_term);
                        r2_sums[0] = FirstMaximum::combine(r2_sums[0], Place<float32>{r2_term, (int64)first});
                    }
                }
            }
            r0_sums[0] = Sum::combine(r0_sums[0], r0_parts[0]);
        }
        const float32 r0_all = of_column<Sum, 32>(r0_sums[0]);
        const float32 r1_all = of_column<Maximum, 32>(r1_sums[0]);
        const Place<float32> r2_all = of_column<FirstMaximum, 32>(r2_sums[0]);
        if (threadIdx.y == 0 && is_inside) {
            r0_partials[(int32)blockIdx.y * results + row * extent_1 + own] = r0_all;
            r1_partials[(int32)blockIdx.y * results + row * extent_1 + own] = r1_all;
            r2_partials[(int32)blockIdx.y * results + row * extent_1 + own] = r2_all;
        }
    }
    if (!is_last_block(ticket, gridDim.x * gridDim.y)) return;
    for (int32 result = 0; result < results; result += 8) {
        const int32 own = result + (int32)threadIdx.x;
        const bool is_inside = own < results;
        const int32 row_or_last = is_inside ? own : results - 1;
        const int32 row = row_or_last / extent_1;
        const int32 column = row_or_last - row * extent_1;
        const float32 *w_row = w_data;
        float32 *r0_out_row = r0_out_data;
        float32 *r1_out_row = r1_out_data;
        int64 *r2_out_row = r2_out_data;
        float32 *rest_out_row = rest_out_data;
        const float32 w = w_row[column];
        float32 r0_rest = (float32)0x0.0p+0;
        for (uint32 part = threadIdx.y; part < gridDim.y; part += 32) {
            r0_rest = Sum::combine(r0_rest, r0_partials[part * results + row_or_last]);
        }
        const float32 r0_all = of_column<Sum, 32>(r0_rest);
        const float32 r0 = r0_all;
        float32 r1_rest = np_from_bits((uint32)0xff800000u);
        for (uint32 part = threadIdx.y; part < gridDim.y; part += 32) {
            r1_rest = Maximum::combine(r1_rest, r1_partials[part * results + row_or_last]);
        }
        const float32 r1_all = of_column<Maximum, 32>(r1_rest);
        const float32 r1 = r1_all;
        Place<float32> r2_rest = Place<float32>{np_from_bits((uint32)0xff800000u), 9223372036854775807};
        for (uint32 part = threadIdx.y; part < gridDim.y; part += 32) {
            r2_rest = FirstMaximum::combine(r2_rest, r2_partials[part * results + row_or_last]);
        }
        const Place<float32> r2_all = of_column<FirstMaximum, 32>(r2_rest);
        const int64 r2 = r2_all.place;
        const float32 rest = np_subtract(w, r0);
        if (threadIdx.y == 0 && is_inside) {
            r0_out_row[column] = r0;
            r1_out_row[column] = r1;
            r2_out_row[column] = r2;
            rest_out_row[column] = rest;
        }
    }
    if (threadIdx.x + threadIdx.y == 0) *ticket = 0;
}
