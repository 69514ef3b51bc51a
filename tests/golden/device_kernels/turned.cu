static __device__ __forceinline__ void region_element(const float64 x, const float64 y, float64 &out) {
    const float64 t0 = np_add(x, y);
    out = t0;
}

extern "C" __global__ void __launch_bounds__(256) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    const float64 *__restrict__ y_data,
    int32 y_stride_0,
    int32 y_step,
    float64 *__restrict__ out_data,
    int32 out_stride_0,
    int32 out_step,
    int32 extent_0,
    int32 extent_1
) {
    float64 (*y_tile)[33] = (float64 (*)[33])(shared_memory + 0);
    float64 (*out_tile)[33] = (float64 (*)[33])(shared_memory + 8448);
    const int32 across = (int32)blockIdx.y * 32;
    const int32 along = (int32)blockIdx.x * 32;
    #pragma unroll
    for (int unit = 0; unit < 32; unit += 8) {
        const int32 index_0 = across + (int32)threadIdx.x;
        const int32 index_1 = along + unit + (int32)threadIdx.y;
        if (index_0 < extent_0 && index_1 < extent_1) {
            const float64 *y_row = y_data + index_0 * y_stride_0;
            y_tile[unit + threadIdx.y][threadIdx.x] = y_row[index_1 * y_step];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int unit = 0; unit < 32; unit += 8) {
        const int32 index_0 = across + unit + (int32)threadIdx.y;
        const int32 index_1 = along + (int32)threadIdx.x;
        if (index_0 < extent_0 && index_1 < extent_1) {
            const float64 *x_row = x_data + index_0 * x_stride_0;
            const float64 x = x_row[index_1];
            const float64 y = y_tile[threadIdx.x][unit + threadIdx.y];
            float64 out;
            region_element(x, y, out);
            out_tile[threadIdx.x][unit + threadIdx.y] = out;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int unit = 0; unit < 32; unit += 8) {
        const int32 index_0 = across + (int32)threadIdx.x;
        const int32 index_1 = along + unit + (int32)threadIdx.y;
        if (index_0 < extent_0 && index_1 < extent_1) {
            float64 *out_row = out_data + index_0 * out_stride_0;
            out_row[index_1 * out_step] = out_tile[unit + threadIdx.y][threadIdx.x];
        }
    }
}
