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
    const int32 results = extent_0;
    {
        const int32 row = (int32)blockIdx.x;
        const int32 index_0 = row;
        const float32 *x_row = x_data + index_0 * x_stride_0;
        float32 r0_sums[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
        float32 r1_sums[4] = {
            np_from_bits((uint32)0xff800000u),
            np_from_bits((uint32)0xff800000u),
            np_from_bits((uint32)0xff800000u),
            np_from_bits((uint32)0xff800000u),
        };
        Place<float32> r2_sums[1] = {Place<float32>{np_from_bits((uint32)0xff800000u), 9223372036854775807}};
        #pragma unroll 1
        for (int32 start = (int32)blockIdx.y * 1024; start * 4 < extent_1;) {
            float32 r0_parts[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
            #pragma unroll 1
            for (int turn = 0; turn < 64 && start * 4 < extent_1; ++turn, start += (int32)gridDim.y * 1024) {
                Vector<float32, 4> x_vectors[4];
                #pragma unroll
                for (int unit = 0; unit < 4; ++unit) {
                    const int32 at = start + unit * 256 + (int32)threadIdx.x;
                    const int32 first = at * 4;
                    if (first + 4 <= extent_1) {
                        x_vectors[unit] = *(const Vector<float32, 4> *)(x_row + first);
                    } else {
                        #pragma unroll
                        for (int lane = 0; lane < 4; ++lane) {
                            x_vectors[unit].lanes[lane] = x_row[first + lane < extent_1 ? first + lane : 0];
                        }
                    }
                }
                #pragma unroll
                for (int unit = 0; unit < 4; ++unit) {
                    const int32 at = start + unit * 256 + (int32)threadIdx.x;
                    const int32 first = at * 4;
                    #pragma unroll
                    for (int lane = 0; lane < 4; ++lane) {
                        float32 r0_term;
                        float32 r1_term;
                        float32 r2_term;
                        region_sweep_0(x_vectors[unit].lanes[lane], r0_term, r1_term, r2_term);
                        if (first + lane < extent_1) {
                            r0_parts[lane] = Sum::combine(r0_parts[lane], r0_term);
                            r1_sums[lane] = Maximum::combine(r1_sums[lane], r1_term);
                            r2_sums[0] = FirstMaximum::combine(r2_sums[0], Place<float32>{r2_term, (int64)(first + lane)});
                        }
                    }
                }
            }
            r0_sums[0] = Sum::combine(r0_sums[0], r0_parts[0]);
            r0_sums[1] = Sum::combine(r0_sums[1], r0_parts[1]);
            r0_sums[2] = Sum::combine(r0_sums[2], r0_parts[2]);
            r0_sums[3] = Sum::combine(r0_sums[3], r0_parts[3]);
        }
        r0_sums[0] = Sum::combine(r0_sums[0], r0_sums[1]);
        r0_sums[0] = Sum::combine(r0_sums[0], r0_sums[2]);
        r0_sums[0] = Sum::combine(r0_sums[0], r0_sums[3]);
        r1_sums[0] = Maximum::combine(r1_sums[0], r1_sums[1]);
        r1_sums[0] = Maximum::combine(r1_sums[0], r1_sums[2]);
        r1_sums[0] = Maximum::combine(r1_sums[0], r1_sums[3]);
        const float32 r0_all = of_block<Sum, 8>(r0_sums[0]);
        const float32 r1_all = of_block<Maximum, 8>(r1_sums[0]);
        const Place<float32> r2_all = of_block<FirstMaximum, 8>(r2_sums[0]);
        if (threadIdx.x == 0) {
            r0_partials[(int32)blockIdx.y * results + row] = r0_all;
            r1_partials[(int32)blockIdx.y * results + row] = r1_all;
            r2_partials[(int32)blockIdx.y * results + row] = r2_all;
        }
    }
    if (!is_last_block(ticket, gridDim.x * gridDim.y)) return;
    for (int32 result = 0; result < results; result += 8) {
        const int32 own = result + (int32)(threadIdx.x / 32);
        const bool is_inside = own < results;
        const int32 row_or_last = is_inside ? own : results - 1;
        const int32 index_0 = row_or_last;
        const float32 *w_row = w_data + index_0 * w_stride_0;
        float32 *r0_out_row = r0_out_data + index_0 * r0_out_stride_0;
        float32 *r1_out_row = r1_out_data + index_0 * r1_out_stride_0;
        int64 *r2_out_row = r2_out_data + index_0 * r2_out_stride_0;
        float32 *rest_out_row = rest_out_data + index_0 * rest_out_stride_0;
        const float32 w = *w_row;
        float32 r0_rest = (float32)0x0.0p+0;
        for (uint32 part = (threadIdx.x % 32); part < gridDim.y; part += 32) {
            r0_rest = Sum::combine(r0_rest, r0_partials[part * results + row_or_last]);
        }
        const float32 r0_all = of_warp<Sum, 32>(r0_rest);
        const float32 r0 = r0_all;
        float32 r1_rest = np_from_bits((uint32)0xff800000u);
        for (uint32 part = (threadIdx.x % 32); part < gridDim.y; part += 32) {
            r1_rest = Maximum::combine(r1_rest, r1_partials[part * results + row_or_last]);
        }
        const float32 r1_all = of_warp<Maximum, 32>(r1_rest);
        const float32 r1 = r1_all;
        Place<float32> r2_rest = Place<float32>{np_from_bits((uint32)0xff800000u), 9223372036854775807};
        for (uint32 part = (threadIdx.x % 32); part < gridDim.y; part += 32) {
            r2_rest = FirstMaximum::combine(r2_rest, r2_partials[part * results + row_or_last]);
        }
        const Place<float32> r2_all = of_warp<FirstMaximum, 32>(r2_rest);
        const int64 r2 = r2_all.place;
        const float32 rest = np_subtract(w, r0);
        if ((threadIdx.x % 32) == 0 && is_inside) {
            *r0_out_row = r0;
            *r1_out_row = r1;
            *r2_out_row = r2;
            *rest_out_row = rest;
        }
    }
    if (threadIdx.x + threadIdx.y == 0) *ticket = 0;
}
