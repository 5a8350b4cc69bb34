package system

import (
	"context"
	_ "embed" // for launch
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/web"
)

// emulator is the local AWS.
type emulator struct {
	*process
	endpoint string
}

// Authorizations is a file in the system's folder. It lists each action that a function was
// permitted or refused, once, with the deciding statements of the function's policies.
const Authorizations = "authorizations.jsonl"

// launch is how the emulator starts.
//
//go:embed launch.py
var launch []byte

// startEmulator starts the local AWS on a free loopback port. It and the functions write only
// below the system's folder.
func startEmulator(ctx context.Context, python string, o Options) (*emulator, error) {
	dir := o.Dir
	for _, sub := range []string{"tmp", "state", "s3"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	script := filepath.Join(dir, "launch.py")
	if err := os.WriteFile(script, launch, 0o644); err != nil {
		return nil, err
	}
	functionsLog := filepath.Join(dir, "functions.log")
	for _, name := range []string{functionsLog, filepath.Join(dir, Authorizations)} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			return nil, err
		}
	}
	log := filepath.Join(dir, "ministack.log")
	// Another program may take a free port first.
	const tries = 3
	for try := 1; ; try++ {
		port, err := web.FreePort(ctx)
		if err != nil {
			return nil, err
		}
		endpoint := "http://127.0.0.1:" + strconv.Itoa(port)
		seen, err := o.Through(AWS, endpoint)
		if err != nil {
			return nil, err
		}
		env := environment(map[string]string{
			"BIND_HOST":        "127.0.0.1",
			"GATEWAY_PORT":     strconv.Itoa(port),
			"MINISTACK_HOST":   "localhost",
			"MINISTACK_REGION": o.Region,
			// The functions find AWS by this address.
			"AWS_ENDPOINT_URL":      seen,
			"AWS_ACCESS_KEY_ID":     awsKey,
			"AWS_SECRET_ACCESS_KEY": awsKey,
			"AWS_DEFAULT_REGION":    o.Region,
			"TMPDIR":                filepath.Join(dir, "tmp"),
			"STATE_DIR":             filepath.Join(dir, "state"),
			"S3_DATA_DIR":           filepath.Join(dir, "s3"),
			// The system uses neither, and each would take a port.
			"IOT_MTLS_ENABLED": "0",
			"SFTP_ENABLED":     "0",
			"LAMBDA_EXECUTOR":  "local",
			"FUNCTIONS_LOG":    functionsLog,
			"AUTHORIZATIONS":   filepath.Join(dir, Authorizations),
			// Permissions are checked, so that a missing one is already found locally.
			"AUTH":             "true",
			"PYTHONUNBUFFERED": "1",
		})
		p, err := start(dir, log, env, python, script)
		if err != nil {
			return nil, fmt.Errorf("starting the local AWS: %w", err)
		}
		e := &emulator{process: p, endpoint: endpoint}
		if err = e.await(ctx, endpoint+"/_ministack/health", 30*time.Second); err == nil {
			return e, nil
		}
		e.end(grace)
		if ctx.Err() != nil || try == tries {
			return nil, logged(err, "starting the local AWS", log)
		}
	}
}
