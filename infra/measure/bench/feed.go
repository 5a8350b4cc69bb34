package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// callLimit is the time that a function has for a batch.
const callLimit = time.Minute

// feed stands in for Lambda with calls: each instance of the function that asks
// for work gets the next batch.
type feed struct {
	runtimeAPI
	batches chan []byte

	mu    sync.Mutex
	calls int
	left  int
	err   error
	begun time.Time
	done  chan struct{}
}

// newFeed makes a feed of batches, which are events of SQS as JSON.
func newFeed(ctx context.Context, batches [][]byte) (*feed, error) {
	f := &feed{batches: make(chan []byte, len(batches)), left: len(batches), done: make(chan struct{})}
	for _, b := range batches {
		f.batches <- b
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", f.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", f.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", f.failure)
	return f, f.serve(ctx, mux)
}

func (f *feed) next(w http.ResponseWriter, req *http.Request) {
	select {
	case batch := <-f.batches:
		f.mu.Lock()
		if f.calls == 0 {
			f.begun = time.Now()
		}
		f.calls++
		id := strconv.Itoa(f.calls)
		f.mu.Unlock()
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(callLimit).UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:000000000000:function:bench")
		_, _ = w.Write(batch) // fails when the function has died, which is seen by its end
	case <-req.Context().Done(): // the function is ended while it waits
	}
}

func (f *feed) response(w http.ResponseWriter, req *http.Request) {
	var out events.SQSEventResponse
	err := json.NewDecoder(req.Body).Decode(&out)
	if n := len(out.BatchItemFailures); err == nil && n > 0 {
		err = fmt.Errorf("%d messages of a batch failed", n)
	}
	f.answered(err)
	w.WriteHeader(http.StatusAccepted)
}

func (f *feed) failure(w http.ResponseWriter, req *http.Request) {
	why, _ := io.ReadAll(req.Body)
	f.answered(errors.New("the function failed: " + string(why)))
	w.WriteHeader(http.StatusAccepted)
}

// answered notes the answer to a call; the last one ends the feed, as does an error.
func (f *feed) answered(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left--
	if f.err != nil {
		return
	}
	if f.err = err; err != nil || f.left == 0 {
		close(f.done)
	}
}

// run starts instances of a function and ends them when all batches are answered.
// It returns the time from the first call to the last answer, and the CPU time of
// the instances from their start to their end.
func (f *feed) run(ctx context.Context, path string, instances int, environment ...string) (took, cpu time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	logs := make([]bytes.Buffer, instances)
	commands := make([]*exec.Cmd, instances)
	ended := make(chan int, instances)
	for i := range commands {
		cmd := exec.CommandContext(ctx, path)
		cmd.Env = append(f.environment(), environment...)
		cmd.Stdout, cmd.Stderr = &logs[i], &logs[i]
		if err := cmd.Start(); err != nil {
			return 0, 0, err
		}
		commands[i] = cmd
		go func() {
			_ = cmd.Wait() // how it ended is in its state
			ended <- i
		}()
	}
	left := instances
	select {
	case <-f.done:
		took, err = time.Since(f.begun), f.err
	case i := <-ended:
		left--
		err = fmt.Errorf("%s ended: %s\n%s", path, commands[i].ProcessState, logs[i].String())
	}
	cancel() // kills them
	for range left {
		<-ended
	}
	for _, cmd := range commands {
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return took, cpu, err
}
