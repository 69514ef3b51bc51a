static __device__ __forceinline__ void region_sweep_0(const float32 x, float32 &top_term) {
    top_term = x;
}

static __device__ __forceinline__ void region_sweep_1(
    const float32 x,
    const float32 top,
    float32 &total_term,
    float32 &e_kept
) {
    // e = np.exp(x - top)
    const float32 t0 = np_subtract(x, top);
    const float32 e = np_exp(t0);
    total_term = e;
    e_kept = e;
}

static __device__ __forceinline__ void region_sweep_2(const float32 e, const float32 total, float32 &t1_out) {
    // return e / total
    const float32 t1 = np_divide(e, total);
    t1_out = t1;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float32 *__restrict__ x_data,
    int32 x_stride_0,
    float32 *__restrict__ t1_out_data,
    int32 t1_out_stride_0,
    float32 *__restrict__ top_out_data,
    int32 top_out_stride_0,
    int32 extent_0,
    int32 extent_1
) {
    const int32 row = (int32)blockIdx.x * 8 + (int32)threadIdx.y;
    if (row >= extent_0) return;
    const int32 index_0 = row;
    const float32 *x_row = x_data + index_0 * x_stride_0;
    float32 *t1_out_row = t1_out_data + index_0 * t1_out_stride_0;
    float32 *top_out_row = top_out_data + index_0 * top_out_stride_0;
    Vector<float32, 4> x_held[1];
    Vector<float32, 4> e_held[1];
    float32 top_sums[4] = {
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
        np_from_bits((uint32)0xff800000u),
    };
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 4;
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            x_held[unit].lanes[lane] = x_row[first + lane < extent_1 ? first + lane : 0];
        }
    }
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 4;
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            float32 top_term;
            region_sweep_0(x_held[unit].lanes[lane], top_term);
            if (first + lane < extent_1) {
                top_sums[lane] = Maximum::combine(top_sums[lane], top_term);
            }
        }
    }
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[1]);
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[2]);
    top_sums[0] = Maximum::combine(top_sums[0], top_sums[3]);
    const float32 top_all = of_warp<Maximum, 32>(top_sums[0]);
    const float32 top = top_all;
    float32 total_sums[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
    float32 total_parts[4] = {(float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0, (float32)0x0.0p+0};
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 4;
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            float32 total_term;
            region_sweep_1(x_held[unit].lanes[lane], top, total_term, e_held[unit].lanes[lane]);
            if (first + lane < extent_1) {
                total_parts[lane] = Sum::combine(total_parts[lane], total_term);
            }
        }
    }
    total_sums[0] = Sum::combine(total_sums[0], total_parts[0]);
    total_sums[1] = Sum::combine(total_sums[1], total_parts[1]);
    total_sums[2] = Sum::combine(total_sums[2], total_parts[2]);
    total_sums[3] = Sum::combine(total_sums[3], total_parts[3]);
    total_sums[0] = Sum::combine(total_sums[0], total_sums[1]);
    total_sums[0] = Sum::combine(total_sums[0], total_sums[2]);
    total_sums[0] = Sum::combine(total_sums[0], total_sums[3]);
    const float32 total_all = of_warp<Sum, 32>(total_sums[0]);
    const float32 total = total_all;
    #pragma unroll
    for (int unit = 0; unit < 1; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 4;
        Vector<float32, 4> t1_out_vector;
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            region_sweep_2(e_held[unit].lanes[lane], total, t1_out_vector.lanes[lane]);
        }
        #pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            if (first + lane < extent_1) t1_out_row[first + lane] = t1_out_vector.lanes[lane];
        }
    }
    if (threadIdx.x == 0) {
        *top_out_row = top;
    }
}
