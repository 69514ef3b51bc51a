static __device__ __forceinline__ void region_sweep_0(const float64 x, float64 &mean_term) {
    mean_term = x;
}

static __device__ __forceinline__ void region_sweep_1(const float64 x, const float64 mean, float64 &total_term) {
    const float64 difference = np_subtract(x, mean);
    const float64 root = np_sqrt(difference);
    total_term = root;
}

static __device__ __forceinline__ void region_sweep_2(
    const float64 x,
    const float64 mean,
    const float64 total,
    float64 &scaled_out
) {
    const float64 difference = np_subtract(x, mean);
    const float64 root = np_sqrt(difference);
    const float64 scaled = np_divide(root, total);
    scaled_out = scaled;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    int32 x_stride_1,
    int32 x_step,
    float64 *__restrict__ scaled_out_data,
    int32 scaled_out_stride_0,
    int32 scaled_out_stride_1,
    float64 *__restrict__ mean_out_data,
    int32 mean_out_stride_0,
    int32 mean_out_stride_1,
    int32 extent_0,
    int32 extent_1,
    int32 extent_2
) {
    const int32 row = (int32)blockIdx.x * 8 + (int32)threadIdx.y;
    if (row >= extent_0) return;
    const int32 index_0 = row;
    float64 *mean_out_row = mean_out_data + index_0 * mean_out_stride_0;
    const float64 *x_base = x_data + index_0 * x_stride_0;
    float64 *scaled_out_base = scaled_out_data + index_0 * scaled_out_stride_0;
    float64 mean_sums[1] = {(float64)0x0.0p+0};
    for (int32 line = 0; line < extent_1; ++line) {
        const int32 index_1 = line;
        const float64 *x_row = x_base + index_1 * x_stride_1;
        #pragma unroll 1
        for (int32 start = 0; start < extent_2;) {
            float64 mean_parts[1] = {(float64)0x0.0p+0};
            #pragma unroll 1
            for (int turn = 0; turn < 64 && start < extent_2; ++turn, start += 32) {
                Vector<float64, 1> x_vectors[1];
                #pragma unroll
                for (int unit = 0; unit < 1; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.x;
                    const int32 first = at;
                    x_vectors[unit].lanes[0] = x_row[(first < extent_2 ? first : 0) * x_step];
                }
                #pragma unroll
                for (int unit = 0; unit < 1; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.x;
                    const int32 first = at;
                    float64 mean_term;
                    region_sweep_0(x_vectors[unit].lanes[0], mean_term);
                    if (first < extent_2) {
                        mean_parts[0] = Sum::combine(mean_parts[0], mean_term);
                    }
                }
            }
            mean_sums[0] = Sum::combine(mean_sums[0], mean_parts[0]);
        }
    }
    const float64 mean_all = of_warp<Sum, 32>(mean_sums[0]);
    const float64 mean = mean_all / (float64)(extent_1 * extent_2);
    float64 total_sums[1] = {(float64)0x0.0p+0};
    for (int32 line = 0; line < extent_1; ++line) {
        const int32 index_1 = line;
        const float64 *x_row = x_base + index_1 * x_stride_1;
        #pragma unroll 1
        for (int32 start = 0; start < extent_2;) {
            float64 total_parts[1] = {(float64)0x0.0p+0};
            #pragma unroll 1
            for (int turn = 0; turn < 64 && start < extent_2; ++turn, start += 32) {
                Vector<float64, 1> x_vectors[1];
                #pragma unroll
                for (int unit = 0; unit < 1; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.x;
                    const int32 first = at;
                    x_vectors[unit].lanes[0] = x_row[(first < extent_2 ? first : 0) * x_step];
                }
                #pragma unroll
                for (int unit = 0; unit < 1; ++unit) {
                    const int32 at = start + unit * 32 + (int32)threadIdx.x;
                    const int32 first = at;
                    float64 total_term;
                    region_sweep_1(x_vectors[unit].lanes[0], mean, total_term);
                    if (first < extent_2) {
                        total_parts[0] = Sum::combine(total_parts[0], total_term);
                    }
                }
            }
            total_sums[0] = Sum::combine(total_sums[0], total_parts[0]);
        }
    }
    const float64 total_all = of_warp<Sum, 32>(total_sums[0]);
    const float64 total = total_all;
    for (int32 line = 0; line < extent_1; ++line) {
        const int32 index_1 = line;
        const float64 *x_row = x_base + index_1 * x_stride_1;
        float64 *scaled_out_row = scaled_out_base + index_1 * scaled_out_stride_1;
        #pragma unroll 1
        for (int32 start = 0; start < extent_2; start += 32) {
            Vector<float64, 1> x_vectors[1];
            #pragma unroll
            for (int unit = 0; unit < 1; ++unit) {
                const int32 at = start + unit * 32 + (int32)threadIdx.x;
                const int32 first = at;
                x_vectors[unit].lanes[0] = x_row[(first < extent_2 ? first : 0) * x_step];
            }
            #pragma unroll
            for (int unit = 0; unit < 1; ++unit) {
                const int32 at = start + unit * 32 + (int32)threadIdx.x;
                const int32 first = at;
                Vector<float64, 1> scaled_out_vector;
                region_sweep_2(x_vectors[unit].lanes[0], mean, total, scaled_out_vector.lanes[0]);
                if (first < extent_2) scaled_out_row[first] = scaled_out_vector.lanes[0];
            }
        }
    }
    if (threadIdx.x == 0) {
        *mean_out_row = mean;
    }
}
