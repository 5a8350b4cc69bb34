package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// startLimit bounds one start of a function.
const startLimit = 30 * time.Second

// The programs that the functions are compared with.
const (
	helloBaseline = "(hello world)"
	sdkBaseline   = "(SDK alone)"
)

// slowest is how many times as long as that of sdkBaseline a start may take.
const slowest = 1.25

// program is a function whose start is measured.
type program struct{ name, path string }

// startTimes are the times of a program's starts.
type startTimes struct {
	program
	bytes int64 // size of the binary
	times []time.Duration
}

// against returns how many times as long as another one's a start takes.
func (s startTimes) against(other startTimes) float64 {
	return float64(median(s.times)) / float64(median(other.times))
}

// measureStarts starts each program as often as asked.
func measureStarts(ctx context.Context, programs []program, rounds int) (_ []startTimes, err error) {
	api, err := newRuntimeAPI(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, api.Close()) }()
	all := make([]startTimes, len(programs))
	for i, p := range programs {
		binary, err := os.Stat(p.path)
		if err != nil {
			return nil, err
		}
		all[i] = startTimes{program: p, bytes: binary.Size()}
	}
	// Taking turns lets whatever slows the machine for a while slow all of them; each
	// round begins with another one, so that none always follows the same. The round
	// before the first fills the file cache, and is not counted.
	for round := -1; round < rounds; round++ {
		for i := range all {
			s := &all[(i+round+1)%len(all)]
			took, err := api.start(ctx, s.program)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				s.times = append(s.times, took)
			}
		}
	}
	return all, nil
}

// runtimeAPI stands in for Lambda: it is what a function asks for work when it
// has started. There is never any.
type runtimeAPI struct {
	listener net.Listener
	server   *http.Server
	// asked gets the time of each first request for work.
	asked chan time.Time
}

func newRuntimeAPI(ctx context.Context) (*runtimeAPI, error) {
	api := &runtimeAPI{asked: make(chan time.Time, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(_ http.ResponseWriter, req *http.Request) {
		api.asked <- time.Now()
		<-req.Context().Done() // the function is ended while it waits
	})
	return api, api.serve(ctx, mux)
}

// serve answers on a free port of the loopback address.
func (api *runtimeAPI) serve(ctx context.Context, handler http.Handler) (err error) {
	if api.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	api.server = &http.Server{Handler: handler, ReadHeaderTimeout: startLimit}
	go func() { _ = api.server.Serve(api.listener) }() // returns ErrServerClosed, when closed
	return nil
}

// Close ends the server.
func (api *runtimeAPI) Close() error { return api.server.Close() }

// environment is what Lambda and the stacks put into a function's environment,
// and nothing of what this machine has in its own: a profile of a developer would
// be read by the SDK.
func (api *runtimeAPI) environment() []string { return environment(api.listener.Addr().String()) }

func environment(api string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=bench", "AWS_SECRET_ACCESS_KEY=bench", "AWS_SESSION_TOKEN=bench",
		"AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"LAMBDA_TASK_ROOT=/var/task", "_HANDLER=bootstrap", "TZ=:UTC",
		"STAGE=bench", "CUSTOMER=bench", "TABLE_NAME=" + stateTable, "AUDIT_TABLE_NAME=bench-audit", "MEDIA_BUCKET=bench-media", "BUS_NAME=bench", "SEAL_SECRET_ARN=bench-seal", "SECRETS_KEY_ARN=arn:aws:kms:eu-central-1:000000000000:key/bench",
		"PROVIDERS=bedrock,elevenlabs,fal,polly,replicate", "PROVIDER_SECRET=bench-providers", "PLATFORM_SECRET=bench-platforms",
		"DELIVER_ROLE_ARN=arn:aws:iam::000000000000:role/bench-deliver",
	}
	for _, q := range topology.Queues {
		env = append(env, q.EnvName()+"=https://sqs.eu-central-1.amazonaws.com/000000000000/bench-"+string(q))
	}
	return env
}

// start runs a program until it asks for work, and returns how long that took. Then
// it ends it.
func (api *runtimeAPI) start(ctx context.Context, p program) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, p.path)
	cmd.Env = api.environment()
	cmd.Stdout, cmd.Stderr = &log, &log
	ended := make(chan error, 1)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { ended <- cmd.Wait() }()
	select {
	case at := <-api.asked:
		cancel() // kills it
		<-ended
		return at.Sub(begin), nil
	case <-ended:
		err := ctx.Err()
		if err == nil {
			err = errors.New(cmd.ProcessState.String())
		}
		return 0, fmt.Errorf("%s does not start: %w\n%s", p.name, err, log.String())
	}
}
