package system

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/base/web"
	testfakes "github.com/content-automation/api/testdata/fakes"
)

// engineTools has AWS's own database engine, DynamoDB Local.
var engineTools = []Set{{"dynamodb", "DynamoDB Local (Maven)", "dynamodb", []string{"pom.xml", "Engine.java"},
	installMaven}}

// engineNeeds are the programs that the engine needs.
var engineNeeds = []need{
	{"java", []string{"--version"}, 17, 0, "the database engine runs on it; get a JDK from https://adoptium.net"},
	{"javac", []string{"--version"}, 17, 0, "it compiles the start of the database engine; get a JDK from " +
		"https://adoptium.net"},
	{"mvn", []string{"--version"}, 3, 6, "it installs the database engine; get it from https://maven.apache.org"},
}

// CheckEngine returns an error with the reason if DynamoDB Local cannot run on this machine.
func CheckEngine(ctx context.Context) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("its library is not available for %s", runtime.GOARCH)
	}
	for _, n := range engineNeeds {
		if err := n.check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// installMaven downloads the jars of a pom.xml, and compiles the class that starts them.
func installMaven(ctx context.Context, pins, dir, log string) error {
	lib := filepath.Join(dir, "lib")
	// Maven refuses a file if its checksum differs from the repository's.
	err := run(ctx, dir, log, withTools(), "mvn", "--batch-mode", "--quiet", "--strict-checksums",
		"--file", filepath.Join(pins, "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+lib)
	if err != nil {
		return err
	}
	return run(ctx, dir, log, withTools(), "javac", "-cp", filepath.Join(lib, "*"), "-d", dir,
		filepath.Join(pins, "Engine.java"))
}

// Engine is a running DynamoDB Local. Its tables are in memory.
type Engine struct {
	// Address is the URL of the engine, on the loopback address.
	Address string
	cmd     *exec.Cmd
	stdin   io.Closer
}

// engineStart bounds the start of the engine. It takes two seconds, or more on a busy machine.
const engineStart = 2 * time.Minute

// StartEngine installs DynamoDB Local and starts it. A long run keeps Java's second compiler: it takes 12 CPU seconds
// once, and each call takes a quarter less.
func StartEngine(ctx context.Context, root string, long bool, say func(string)) (*Engine, error) {
	if err := Install(ctx, root, say, engineTools); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Join(root, toolsDir, "dynamodb"))
	if err != nil {
		return nil, err
	}
	lib := filepath.Join(dir, "lib")
	// A serial collector leaves the other processors to the tests.
	args := []string{"-XX:+UseSerialGC", "-Djava.library.path=" + lib,
		"-cp", dir + string(filepath.ListSeparator) + filepath.Join(lib, "*"), "Engine"}
	if !long {
		args = append([]string{"-XX:TieredStopAtLevel=1"}, args...)
	}
	cmd := exec.Command("java", args...)
	cmd.Env, cmd.SysProcAttr = environment(nil), ownGroup()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, err := os.CreateTemp("", "engine-*.log")
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = log.Close(), os.Remove(log.Name()) }()
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &Engine{cmd: cmd, stdin: stdin}
	if e.Address, err = firstLine(ctx, stdout); err != nil {
		e.Stop()
		return nil, logged(err, "starting DynamoDB Local", log.Name())
	}
	return e, nil
}

// firstLine returns the line that the engine prints when it is ready.
func firstLine(ctx context.Context, r io.Reader) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(r).ReadString('\n')
		lines <- strings.TrimSpace(line)
	}()
	late := time.NewTimer(engineStart)
	defer late.Stop()
	select {
	case line := <-lines:
		if line == "" {
			return "", errors.New("it has ended")
		}
		return line, nil
	case <-late.C:
		return "", fmt.Errorf("it did not answer within %v", engineStart)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Stop ends the engine and waits until it has ended.
func (e *Engine) Stop() {
	_ = e.stdin.Close()
	late := time.AfterFunc(grace, func() { _ = e.cmd.Process.Kill() })
	defer late.Stop()
	_ = e.cmd.Wait()
}

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

// fakes is one process with the fakes of all generation providers, or of all social platforms.
type fakes struct {
	*process
	name, dir string
	port      int
}

// The names of the fakes are the names of their commands.
const (
	providerFakes = "providers"
	platformFakes = "platforms"
)

// newFakes chooses a port for the fakes. It reuses the earlier port if that is free: the
// stacks contain the port, and need not be synthesised again.
func newFakes(ctx context.Context, dir, name string) (*fakes, error) {
	file := filepath.Join(dir, name+".port")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	port, err := strconv.Atoi(string(text))
	if err != nil || !isFree(ctx, port) {
		if port, err = web.FreePort(ctx); err != nil {
			return nil, err
		}
	}
	return &fakes{name: name, dir: dir, port: port}, os.WriteFile(file, []byte(strconv.Itoa(port)), 0o644)
}

func isFree(ctx context.Context, port int) bool {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// endpoint returns the address of the fakes.
func (f *fakes) endpoint() string { return "http://127.0.0.1:" + strconv.Itoa(f.port) }

// startProviders starts the fakes of the providers, which write their results to the emulated
// AWS.
func (f *fakes) startProviders(ctx context.Context, binaries, endpoint, region string) error {
	accepted, err := testfakes.Credentials()
	if err != nil {
		return err
	}
	return f.start(ctx, binaries, "/_control/log", map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": awsKey,
		"AWS_SECRET_ACCESS_KEY": awsKey,
		"PROVIDER_CREDENTIALS":  accepted,
	})
}

// start starts the fakes, and waits until they answer at a path.
func (f *fakes) start(ctx context.Context, binaries, path string, variables map[string]string) (err error) {
	log := filepath.Join(f.dir, f.name+".log")
	f.process, err = start(f.dir, log, environment(variables), filepath.Join(binaries, f.name), "-port",
		strconv.Itoa(f.port))
	if err == nil {
		err = f.await(ctx, f.endpoint()+path, 10*time.Second)
	}
	if err != nil {
		return logged(err, "starting the fakes of the "+f.name, log)
	}
	return nil
}

// withFakes adds the address of the platforms' fakes to the context values of the stacks, and
// the providers for live keys. With an endpoint, these are the fakes of all providers; without
// one, they are the real providers that need only a credential.
func withFakes(values map[string]string, endpoint, platforms string) map[string]string {
	all := maps.Clone(values)
	if all == nil {
		all = map[string]string{}
	}
	all["platformEndpoint"] = platforms
	if endpoint != "" {
		all["providerEndpoint"] = endpoint
	} else if all["providers"] == "" {
		all["providers"] = strings.Join(registry.CredentialProviders(), ",")
	}
	return all
}

// keep puts a value into a secret of the stacks.
func (s *System) keep(ctx context.Context, arn string, value func() (string, error)) error {
	text, err := value()
	if err != nil {
		return err
	}
	if _, err := secretsmanager.NewFromConfig(s.AWS()).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(arn), SecretString: aws.String(text),
	}); err != nil {
		return fmt.Errorf("storing the credentials of the fakes: %w", err)
	}
	return nil
}
