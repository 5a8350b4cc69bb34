package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/base/web"
	testfakes "github.com/content-automation/api/testdata/fakes"
)

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
