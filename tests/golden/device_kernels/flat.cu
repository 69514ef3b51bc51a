static __device__ __forceinline__ void region_element(
    const float64 x,
    const float32 y,
    const float32 a,
    float64 &t4_out,
    bool_ &small_out
) {
    // return np.sqrt(x * x + y * y) * a
    const float64 t0 = np_multiply(x, x);
    const float64 t1 = np_multiply(np_cast_float64(y), np_cast_float64(y));
    const float64 t2 = np_add(t0, t1);
    const float64 t3 = np_sqrt(t2);
    const float64 t4 = np_multiply(t3, np_cast_float64(a));
    // small = t < 0.5
    const bool_ small = np_less(t4, (float64)0x1.0000000000000p-1);
    t4_out = t4;
    small_out = small;
}

extern "C" __global__ void __launch_bounds__(256) region(
    const float64 *__restrict__ x_data,
    const float32 *__restrict__ y_data,
    int32 y_step,
    float64 *__restrict__ t4_out_data,
    bool_ *__restrict__ small_out_data,
    int32 extent_0,
    float32 a
) {
    const int32 start = (int32)blockIdx.x * 512;
    if (start + 512 <= extent_0) {
        const int32 first = start + (int32)threadIdx.x * 2;
        const Vector<float64, 2> x_vector = *(const Vector<float64, 2> *)(x_data + first);
        Vector<float32, 2> y_vector;
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane) {
            y_vector.lanes[lane] = y_data[(first + lane) * y_step];
        }
        Vector<float64, 2> t4_out_vector;
        Vector<bool_, 2> small_out_vector;
        #pragma unroll
        for (int lane = 0; lane < 2; ++lane) {
            region_element(
                x_vector.lanes[lane],
                y_vector.lanes[lane],
                a,
                t4_out_vector.lanes[lane],
                small_out_vector.lanes[lane]
            );
        }
        *(Vector<float64, 2> *)(t4_out_data + first) = t4_out_vector;
        *(Vector<bool_, 2> *)(small_out_data + first) = small_out_vector;
    } else {
        #pragma unroll 1
        for (int32 i = start + (int32)threadIdx.x; i < extent_0; i += 256) {
            const float64 x = x_data[i];
            const float32 y = y_data[i * y_step];
            float64 t4_out;
            bool_ small_out;
            region_element(x, y, a, t4_out, small_out);
            t4_out_data[i] = t4_out;
            small_out_data[i] = small_out;
        }
    }
}
