package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/web"
)

// startTimeout bounds the start of the engine and the creation of a table. A start takes half a second; on machines
// that build at the same time it takes longer.
const startTimeout = 60 * time.Second

// started starts the engine at most once.
var started = sync.OnceValues(start)

// endpoint returns the address of the engine.
func endpoint() (string, error) {
	if address := os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"); address != "" {
		return address, nil
	}
	return started()
}

// start runs the local AWS on a free port of the loopback address.
func start() (string, error) {
	command, err := emulator()
	if err != nil {
		return "", err
	}
	// Another program may take the free port first.
	const tries = 3
	for try := 1; ; try++ {
		address, err := run(command)
		if err == nil || try == tries {
			return address, err
		}
	}
}

// launch starts the local AWS as its own command does, but keeps a connection open after its thousandth request: if the
// server ends one, its last answer may be cut off, and a test would fail.
const launch = `from hypercorn.config import Config
Config.keep_alive_max_requests = 10**9
from ministack.app import main
main()`

// emulator returns the command line of the local AWS, as it is installed in the checkout, or by the command in PATH.
func emulator() ([]string, error) {
	if root, err := checkout(); err == nil {
		tools := filepath.Join(root, ".tools", "python")
		// The stamp exists once the tools are installed completely.
		if _, err := os.Stat(filepath.Join(tools, ".stamp")); err == nil {
			return []string{filepath.Join(tools, "bin", "python"), "-c", launch}, nil
		}
	}
	if path, err := exec.LookPath("ministack"); err == nil {
		return []string{filepath.Join(filepath.Dir(path), "python"), "-c", launch}, nil
	}
	return nil, errors.New("there is no DynamoDB engine: run `make tools`, or set AWS_ENDPOINT_URL_DYNAMODB to one")
}

// checkout returns the folder of go.mod above the test's own folder.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", os.ErrNotExist
		}
		dir = up
	}
}

func run(command []string) (string, error) {
	port, err := web.FreePort(context.Background())
	if err != nil {
		return "", err
	}
	var log bytes.Buffer
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"BIND_HOST=127.0.0.1", "GATEWAY_PORT=" + strconv.Itoa(port), "SERVICES=dynamodb,dynamodbstreams,sqs",
		"LOG_LEVEL=WARNING",
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start the DynamoDB engine: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the reason is in the log
		close(ended)
	}()
	if err := endWithUs(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		return "", err
	}
	address := "http://127.0.0.1:" + strconv.Itoa(port)
	if err := await(address, ended); err != nil {
		_ = cmd.Process.Kill()
		<-ended
		return "", fmt.Errorf("start the DynamoDB engine: %w\n%s", err, log.String())
	}
	return address, nil
}

// endWithUs makes a process end when this one does, for whatever reason: a shell waits for the end of a pipe, which
// closes when this process ends.
func endWithUs(pid int) error {
	guard := exec.Command("sh", "-c", `cat >/dev/null; kill "$1"`, "guard", strconv.Itoa(pid))
	pipe, err := guard.StdinPipe()
	if err != nil {
		return err
	}
	lifelines = append(lifelines, pipe)
	return guard.Start()
}

// lifelines are the pipes that the guards read, one for each try. They are kept reachable, because the garbage
// collector closes unreachable files.
var lifelines []io.Closer

// await waits until the engine answers.
func await(address string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/_ministack/health", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return errors.New("it does not answer")
		case <-tick.C:
		}
	}
}
