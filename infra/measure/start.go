package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
)

// startLimit bounds one start of a function.
const startLimit = 30 * time.Second

// The functions are compared with these programs: hello world, and a function that loads the AWS configuration and
// creates a client of DynamoDB.
const (
	helloBaseline = "(hello world)"
	sdkBaseline   = "(SDK alone)"
)

// slowest is the largest ratio of the start time of a function that a caller waits for to that of sdkBaseline. Work in
// the background may start more slowly.
const (
	slowest     = 1.25
	slowestWork = 3
)

// program is a program whose start is timed, as the function of a name.
type program struct{ name, path string }

// startTimes are the times of a program's starts.
type startTimes struct {
	program
	bytes int64 // size of the binary
	times []time.Duration
}

// percentile returns the duration that p of a hundred starts do not exceed.
func (s startTimes) percentile(p int) time.Duration {
	sorted := slices.Sorted(slices.Values(s.times))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// startFunctions builds the programs for this machine, and those that they are compared with, and starts each function
// once per round.
func startFunctions(ctx context.Context, rounds int) ([]startTimes, error) {
	target := system.Machine()
	if err := system.Build(ctx, ".", target); err != nil {
		return nil, err
	}
	baselines := filepath.Join("build", ".measure")
	if err := system.Compile(ctx, ".", target, baselines, "./infra/measure/baseline/..."); err != nil {
		return nil, err
	}
	programs := []program{
		{helloBaseline, filepath.Join(baselines, "hello")}, {sdkBaseline, filepath.Join(baselines, "sdk")},
	}
	for _, f := range topology.Functions {
		programs = append(programs, program{f.Name, filepath.Join(target.Dir(), f.Program(), "bootstrap")})
	}
	return measureStarts(ctx, programs, rounds)
}

// measureStarts starts each program once per round.
func measureStarts(ctx context.Context, programs []program, rounds int) ([]startTimes, error) {
	// A request for work gets no answer: the function is killed while it waits.
	asked := make(chan time.Time, 1)
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/invocation/next") {
			asked <- time.Now()
			<-req.Context().Done()
		}
	}))
	defer api.Close()
	media, err := filepath.Abs(filepath.Join(".tools", "media"))
	if err != nil {
		return nil, err
	}
	env := environment(strings.TrimPrefix(api.URL, "http://"), media)
	all := make([]startTimes, len(programs))
	for i, p := range programs {
		binary, err := os.Stat(p.path)
		if err != nil {
			return nil, err
		}
		all[i] = startTimes{program: p, bytes: binary.Size()}
	}
	// The programs take turns, so that a slow moment of the machine affects all of them, and each round begins with
	// a different one. The first round fills the file cache and is not counted.
	for round := -1; round < rounds; round++ {
		for i := range all {
			s := &all[(i+round+1)%len(all)]
			took, err := s.start(ctx, env, asked)
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

// environment returns the environment of a function in AWS, with the media tools of this machine. It contains
// nothing else of the machine, because the SDK would read a developer's profile.
func environment(api, media string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1",
		"AWS_ACCESS_KEY_ID=measure", "AWS_SECRET_ACCESS_KEY=measure", "AWS_SESSION_TOKEN=measure",
		"AWS_LAMBDA_FUNCTION_NAME=measure", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"LAMBDA_TASK_ROOT=/var/task", "_HANDLER=bootstrap", "TZ=:UTC",
		"STAGE=measure", "CUSTOMER=measure", "TABLE_NAME=measure-state", "AUDIT_TABLE_NAME=measure-audit",
		"MEDIA_BUCKET=measure-media", "BUS_NAME=measure", "SEAL_SECRET_ARN=measure-seal",
		"SECRETS_KEY_ARN=arn:aws:kms:eu-central-1:000000000000:key/measure",
		"PROVIDERS=bedrock,elevenlabs,fal,polly,replicate", "PROVIDER_SECRET=measure-providers",
		"PLATFORM_SECRET=measure-platforms", "CANARY_SECRET=measure-canary",
		"DELIVER_ROLE_ARN=arn:aws:iam::000000000000:role/measure-deliver",
		"FFMPEG_PATH=" + filepath.Join(media, "ffmpeg"), "FONTS_PATH=" + filepath.Join(media, "fonts"),
		"C2PA_PATH=" + filepath.Join(media, "c2pa", "libs", "libc2pa_c.so"),
		"MEDIA_KEY_ARN=arn:aws:kms:eu-central-1:000000000000:key/measure-media",
	}
	for _, q := range topology.Queues {
		env = append(env, q.EnvName()+"=https://sqs.eu-central-1.amazonaws.com/000000000000/measure-"+string(q))
	}
	return env
}

// start runs a program until it requests work, returns the time that this took, and ends the program.
func (p program) start(ctx context.Context, env []string, asked <-chan time.Time) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var log bytes.Buffer
	cmd := exec.CommandContext(ctx, p.path)
	cmd.Env = append(slices.Clone(env), needs.FunctionName+"="+p.name)
	cmd.Stdout, cmd.Stderr = &log, &log
	ended := make(chan error, 1)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() { ended <- cmd.Wait() }()
	select {
	case at := <-asked:
		cancel() // kills the program
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

// startTable shows the start times.
func startTable(all []startTimes) string {
	t := newTable("Program", "Binary, MB", "Least, ms", "Median, ms", "90 of 100, ms", "Median against "+sdkBaseline)
	ms := func(d time.Duration) dollars { return dollars(d.Seconds() * 1e3) }
	for _, s := range all {
		t.row(s.name, fmt.Sprintf("%.1f", float64(s.bytes)/1e6), ms(s.percentile(0)), ms(s.percentile(50)),
			ms(s.percentile(90)), dollars(against(s, all)))
	}
	return t.String()
}

// against returns the ratio of the start time of a function to that of sdkBaseline.
func against(s startTimes, all []startTimes) float64 {
	sdk := all[slices.IndexFunc(all, func(s startTimes) bool { return s.name == sdkBaseline })]
	return float64(s.percentile(50)) / float64(sdk.percentile(50))
}

// tooSlow returns an error for each function whose start takes too long.
func tooSlow(all []startTimes) (err error) {
	for _, s := range all {
		bound := slowest
		if slices.ContainsFunc(worker.All, func(f worker.Function) bool { return f.Name == s.name }) {
			bound = slowestWork
		}
		if ratio := against(s, all); ratio > bound {
			err = errors.Join(err, fmt.Errorf("%s: the start takes %.2f times as long as that of %s, the bound is %.2f",
				s.name, ratio, sdkBaseline, bound))
		}
	}
	return err
}
