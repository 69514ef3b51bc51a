struct Arguments {
    const Array *x;
    const Array *y;
    int64 y_step;
    const Array *t4_out;
    const Array *small_out;
    int64 extent_0;
    float32 a;
};

extern "C" void region(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 y_step = arguments->y_step;
    const float32 a = arguments->a;
    const float64 *x_data = (const float64 *)arguments->x->data;
    const float32 *y_data = (const float32 *)arguments->y->data;
    float64 *t4_out_data = (float64 *)arguments->t4_out->data;
    bool_ *small_out_data = (bool_ *)arguments->small_out->data;
    INDEPENDENT
    for (int64 i = begin; i < end; ++i) {
        const float64 x = x_data[i];
        const float32 y = y_data[i * y_step];
        // return np.sqrt(x * x + y * y) * a
        const float64 t0 = np_multiply(x, x);
        const float64 t1 = np_multiply(np_cast_float64(y), np_cast_float64(y));
        const float64 t2 = np_add(t0, t1);
        const float64 t3 = np_sqrt(t2);
        const float64 t4 = np_multiply(t3, np_cast_float64(a));
        // small = t < 0.5
        const bool_ small = np_less(t4, (float64)0x1.0000000000000p-1);
        t4_out_data[i] = t4;
        small_out_data[i] = small;
    }
}
