static __device__ __forceinline__ void region_sweep_0(const float64 x, float64 &mean_term) {
    mean_term = x;
}

static __device__ __forceinline__ void region_sweep_1(const float64 x, const float64 mean, float64 &variance_term) {
    const float64 difference = np_subtract(x, mean);
    const float64 square = np_square(difference);
    variance_term = square;
}

static __device__ __forceinline__ void region_sweep_2(
    const float64 x,
    const float64 mean,
    const float64 deviation,
    float64 &scaled_out
) {
    const float64 difference = np_subtract(x, mean);
    const float64 scaled = np_divide(difference, deviation);
    scaled_out = scaled;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    float64 *__restrict__ scaled_out_data,
    int32 scaled_out_stride_0,
    int32 extent_0,
    int32 extent_1
) {
    const int32 row = (int32)blockIdx.x * 8 + (int32)threadIdx.y;
    if (row >= extent_0) return;
    const int32 index_0 = row;
    const float64 *x_row = x_data + index_0 * x_stride_0;
    float64 *scaled_out_row = scaled_out_data + index_0 * scaled_out_stride_0;
    Vector<float64, 2> x_held[2];
    float64 mean_sums[2] = {(float64)0x0.0p+0, (float64)0x0.0p+0};
    float64 mean_parts[2] = {(float64)0x0.0p+0, (float64)0x0.0p+0};
    #pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 2;
        if (first + 2 <= extent_1) {
            x_held[unit] = *(const Vector<float64, 2> *)(x_row + first);
        } else {
            #pragma unroll
            for (int lane = 0; lane < 2; ++lane) {
                x_held[unit].lanes[lane] = x_row[first + lane < extent_1 ? first + lane : 0];
            }
        }
    }
    #pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 2;
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane) {
            float64 mean_term;
            region_sweep_0(x_held[unit].lanes[lane], mean_term);
            if (first + lane < extent_1) {
                mean_parts[lane] = Sum::combine(mean_parts[lane], mean_term);
            }
        }
    }
    mean_sums[0] = Sum::combine(mean_sums[0], mean_parts[0]);
    mean_sums[1] = Sum::combine(mean_sums[1], mean_parts[1]);
    mean_sums[0] = Sum::combine(mean_sums[0], mean_sums[1]);
    const float64 mean_all = of_warp<Sum, 32>(mean_sums[0]);
    const float64 mean = mean_all / (float64)extent_1;
    float64 variance_sums[2] = {(float64)0x0.0p+0, (float64)0x0.0p+0};
    float64 variance_parts[2] = {(float64)0x0.0p+0, (float64)0x0.0p+0};
    #pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 2;
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane) {
            float64 variance_term;
            region_sweep_1(x_held[unit].lanes[lane], mean, variance_term);
            if (first + lane < extent_1) {
                variance_parts[lane] = Sum::combine(variance_parts[lane], variance_term);
            }
        }
    }
    variance_sums[0] = Sum::combine(variance_sums[0], variance_parts[0]);
    variance_sums[1] = Sum::combine(variance_sums[1], variance_parts[1]);
    variance_sums[0] = Sum::combine(variance_sums[0], variance_sums[1]);
    const float64 variance_all = of_warp<Sum, 32>(variance_sums[0]);
    const float64 variance = variance_all / (float64)extent_1;
    const float64 deviation = np_sqrt(variance);
    #pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
        const int32 at = unit * 32 + (int32)threadIdx.x;
        const int32 first = at * 2;
        Vector<float64, 2> scaled_out_vector;
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane) {
            region_sweep_2(x_held[unit].lanes[lane], mean, deviation, scaled_out_vector.lanes[lane]);
        }
        if (first + 2 <= extent_1) {
            *(Vector<float64, 2> *)(scaled_out_row + first) = scaled_out_vector;
        } else {
            #pragma unroll
            for (int lane = 0; lane < 2; ++lane) {
                if (first + lane < extent_1) scaled_out_row[first + lane] = scaled_out_vector.lanes[lane];
            }
        }
    }
}
