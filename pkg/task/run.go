package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// A Func is the handler of a kind of task as one function. Each step calls it from the top. It returns nil if the task
// has ended: with the change of End, or without any, because nothing waits for the task. It returns the error of Sleep
// if the task goes on later, and any other error if the step is to be repeated, as Handler.Step says.
//
// If the task fails, the function is called a last time. Then Once, Commit, Look and Sleep return the cause as a
// permanent error, unless the result is known. So the function that ends the task well also ends it with a failure.
type Func func(ctx context.Context, r *Run) error

// Run is a task while its function runs. Its memory is part of the payload of the task: results by their names. The
// names are stored, so a name is never used for something else later.
type Run struct {
	*Step
	payload map[string]json.RawMessage
	memory  map[string]*memo
	cause   error  // of the failure of the task, or nil
	doubt   string // name of the call whose answer was lost in this step
	wait    time.Duration
	joins   []func(context.Context, *store.Tx) error
}

// memo is what a run remembers under a name. Result is nil while the answer of a call is not known.
type memo struct {
	Result json.RawMessage `json:"result,omitempty"`
	Looks  int             `json:"looks,omitempty"`
}

// ErrLost means that a call was made and its answer was lost: the call may have had its effect.
var ErrLost = errors.New("task: the answer of a call was lost")

// errLater is the error of Sleep.
var errLater = errors.New("task: the task goes on later")

// Step calls the function.
func (f Func) Step(ctx context.Context, s *Step) (Outcome, error) { return f.call(ctx, s, nil) }

// Fail calls the function a last time.
func (f Func) Fail(ctx context.Context, s *Step, why error) (Outcome, error) {
	return f.call(ctx, s, why)
}

// call calls the function with the memory of the task, and returns what it has decided as the outcome of the step.
func (f Func) call(ctx context.Context, s *Step, cause error) (o Outcome, err error) {
	r := &Run{Step: s, cause: cause, payload: map[string]json.RawMessage{}, memory: map[string]*memo{}}
	if err = s.Decode(&r.payload); err == nil && r.payload["memory"] != nil {
		err = json.Unmarshal(r.payload["memory"], &r.memory)
	}
	if err != nil {
		return o, Permanent(err)
	}
	if err = f(ctx, r); err != nil && !errors.Is(err, errLater) && (cause == nil || Waits(err)) {
		return Outcome{Payload: r}, err
	}
	o = Outcome{Payload: r, Done: err == nil, Wait: r.wait}
	o.Join = func(ctx context.Context, tx *store.Tx) (err error) {
		for i := 0; err == nil && i < len(r.joins); i++ {
			err = r.joins[i](ctx, tx)
		}
		return err
	}
	return o, nil
}

// MarshalJSON returns the payload with the memory, which a change of Also or End may Keep something in.
func (r *Run) MarshalJSON() (doc []byte, err error) {
	if r.payload["memory"], err = json.Marshal(r.memory); err != nil {
		return nil, err
	}
	return json.Marshal(r.payload)
}

// Waits reports whether the function has to return the error for now: the task goes on later, or the step is repeated.
// It returns false for nil and for permanent errors, with which the function ends the task.
func Waits(err error) bool {
	var permanent *PermanentError
	return err != nil && !errors.As(err, &permanent)
}

// Sleeps reports whether an error is that of Sleep, with which a step ends well.
func Sleeps(err error) bool { return errors.Is(err, errLater) }

// Once returns the result of do, which it calls unless it did so before under this name. It stores a mark under the
// lease of the step before the call, and the result after it. A mark without a result means that the answer was lost:
// Once then returns ErrLost, as a permanent error, and never calls do again. It does so after an error of do, too,
// unless the error has a method NoEffect that returns true: then Once forgets the mark, and returns the error.
func Once[T any](ctx context.Context, r *Run, name string, do func(context.Context) (T, error)) (result T, err error) {
	if known, err := r.resultOf(name, &result); known || err != nil {
		return result, err
	}
	r.memory[name] = &memo{}
	if err := r.Remember(ctx); err != nil {
		return result, err
	}
	result, err = do(ctx)
	var call interface{ NoEffect() bool }
	switch {
	case err == nil:
		return result, errors.Join(r.Keep(name, result), r.Remember(ctx))
	case errors.As(err, &call) && call.NoEffect():
		delete(r.memory, name)
		return result, err
	}
	r.doubt = name
	return result, Permanent(fmt.Errorf("%w: %w", ErrLost, err))
}

// Commit is Once for a change of the table: it commits the change together with its result. Like Outcome.Join, change
// reads what it changes, and is called again if that has changed since.
func Commit[T any](ctx context.Context, r *Run, name string,
	change func(context.Context, *store.Tx) (T, error)) (result T, err error) {
	if known, err := r.resultOf(name, &result); known || err != nil {
		return result, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.write(ctx, Outcome{Join: func(ctx context.Context, tx *store.Tx) (err error) {
		if result, err = change(ctx, tx); err == nil {
			err = r.Keep(name, result)
		}
		if err == nil {
			r.Task.Payload, err = r.MarshalJSON()
		}
		return err
	}}, func(*Outcome) (Task, string) { return r.Task, running })
	if err != nil {
		delete(r.memory, name)
	}
	return result, err
}

// firstLook is the pause before the first look. Each following pause is twice as long.
const firstLook = 5 * time.Second

// Look asks find up to n times, in a step each and with growing pauses, for the result of the call of Once whose answer
// was lost. It remembers the result as that of the call. It returns ErrLost, as a permanent error, after n times or if
// find returns a permanent error. After any other error of find it looks again, not earlier than a RetryError says.
func Look[T any](ctx context.Context, r *Run, name string, n int,
	find func(context.Context) (result T, found bool, err error)) (result T, err error) {
	m := r.memory[name]
	if m == nil || m.Result != nil || m.Looks >= n || r.cause != nil {
		_, err = r.resultOf(name, &result)
		return result, err
	}
	if r.doubt == name {
		return result, r.Sleep(firstLook)
	}
	answer, found, err := find(ctx)
	m.Looks++
	retry := &RetryError{}
	errors.As(err, &retry)
	switch {
	case ctx.Err() != nil:
		return result, ctx.Err()
	case err == nil && found:
		return answer, errors.Join(r.Keep(name, answer), r.Remember(ctx))
	case m.Looks >= n, err != nil && !Waits(err):
		m.Looks = n
		return result, Permanent(errors.Join(ErrLost, err))
	case errors.Is(err, errLater):
		return result, err
	}
	return result, r.Sleep(max(firstLook<<m.Looks, retry.After))
}

// resultOf reads the result of a call if it was made. The error is permanent: ErrLost, or the cause of the failing
// task.
func (r *Run) resultOf(name string, result any) (known bool, err error) {
	switch m := r.memory[name]; {
	case m == nil && r.cause == nil:
		return false, nil
	case m == nil:
		err = r.cause
	case m.Result == nil:
		err = ErrLost
	default:
		err = json.Unmarshal(m.Result, result)
	}
	if err != nil {
		err = Permanent(fmt.Errorf("task: %s of %s: %w", name, r.ID, err))
	}
	return true, err
}

// Remember writes the memory under the lease of the step.
func (r *Run) Remember(ctx context.Context) error { return r.Lease(ctx, r) }

// Cause returns why the task has failed, or nil if it has not.
func (r *Run) Cause() error { return r.cause }

// Knows reports whether Once would not make the call: it was made before, or the task has failed.
func (r *Run) Knows(name string) bool { return r.cause != nil || r.memory[name] != nil }

// Keep remembers a value with the next write of the task. Kept reads it.
func (r *Run) Keep(name string, value any) error {
	const most = 64 << 10 // bytes; larger results are stored elsewhere, and remembered by place
	doc, err := json.Marshal(value)
	size := len(doc)
	for other, m := range r.memory {
		if other != name {
			size += len(m.Result)
		}
	}
	if err == nil && size > most {
		err = fmt.Errorf("the memory has %d bytes of at most %d", size, most)
	}
	if err != nil {
		return Permanent(fmt.Errorf("task: remember %s of %s: %w", name, r.ID, err))
	}
	r.memory[name] = &memo{Result: doc}
	return nil
}

// Recall reads into value what Keep has remembered under the name. It leaves value alone if there is nothing.
func (r *Run) Recall(name string, value any) error {
	if r.memory[name] == nil {
		return nil
	}
	reflect.ValueOf(value).Elem().SetZero() // members that are left out are zero
	_, err := r.resultOf(name, value)
	return err
}

// Forget removes a name from the memory, or a member from the payload.
func (r *Run) Forget(name string) {
	delete(r.memory, name)
	delete(r.payload, name)
}

// Sleep ends the step. The next one, after d, calls the function from the top. The caller returns the error.
func (r *Run) Sleep(d time.Duration) error {
	if r.cause != nil {
		return Permanent(r.cause)
	}
	r.wait = d
	return errLater
}

// Also commits a change together with the end of the task or the Sleep of the step. A step that is repeated drops it.
func (r *Run) Also(change func(context.Context, *store.Tx) error) { r.joins = append(r.joins, change) }

// End commits change together with the end of the task. Change adds nothing if the subject no longer waits for it.
func (r *Run) End(change func(context.Context, *store.Tx) error) error {
	r.Also(change)
	return nil
}
