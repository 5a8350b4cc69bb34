package task

import "context"

// Repeat is Once for a call that does no harm if it is made twice. It leaves no mark, and is made again after an error.
func Repeat[T any](ctx context.Context, r *Run, name string,
	do func(context.Context) (T, error)) (result T, err error) {
	if known, err := r.recall(name, &result); known || err != nil {
		return result, err
	}
	if result, err = do(ctx); err == nil {
		err = r.Keep(name, result)
	}
	return result, err
}
