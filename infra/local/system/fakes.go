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

	"github.com/content-automation/api/pkg/provider/credentials"
)

// fakes are the fakes of the generation providers: one process for all.
type fakes struct {
	*process
	dir  string
	port int
}

// newFakes chooses a port for the fakes: the one that they had the last time, if it
// is free, so that the stacks, which hold it, need not be synthesised anew.
func newFakes(ctx context.Context, dir string) (*fakes, error) {
	file := filepath.Join(dir, "providers.port")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	port, err := strconv.Atoi(string(text))
	if err != nil || !isFree(ctx, port) {
		if port, err = freePort(ctx); err != nil {
			return nil, err
		}
	}
	return &fakes{dir: dir, port: port}, os.WriteFile(file, []byte(strconv.Itoa(port)), 0o644)
}

func isFree(ctx context.Context, port int) bool {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// endpoint is the address of the fakes.
func (f *fakes) endpoint() string { return "http://127.0.0.1:" + strconv.Itoa(f.port) }

// fakeCredentials are those that the fakes accept.
func fakeCredentials() (string, error) {
	of := map[string]string{}
	for _, name := range credentials.Providers() {
		of[name] = "local-" + name
	}
	return credentials.Document(of)
}

// start starts the fakes, which put what they make into the emulated AWS.
func (f *fakes) start(ctx context.Context, binary, endpoint, region string) error {
	accepted, err := fakeCredentials()
	if err != nil {
		return err
	}
	log := filepath.Join(f.dir, "providers.log")
	f.process, err = start(f.dir, log, environment(map[string]string{
		"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": awsKey, "AWS_SECRET_ACCESS_KEY": awsKey,
		"PROVIDER_CREDENTIALS": accepted,
	}), binary, "-port", strconv.Itoa(f.port))
	if err == nil {
		err = f.await(ctx, f.endpoint()+"/_control/log", 10*time.Second)
	}
	if err != nil {
		return logged(err, "starting the fakes of the providers", log)
	}
	return nil
}

// withProviders adds to the context values of the stacks the providers that live keys
// use: the fakes of all, by their address, or those that need nothing of AWS but
// their credential.
func withProviders(values map[string]string, endpoint string) map[string]string {
	all := maps.Clone(values)
	if all == nil {
		all = map[string]string{}
	}
	if endpoint != "" {
		all["providerEndpoint"] = endpoint
	} else if all["providers"] == "" {
		all["providers"] = strings.Join(credentials.Providers(), ",")
	}
	return all
}

// keepCredentials puts the fakes' credentials into the secret of the stacks.
func (s *System) keepCredentials(ctx context.Context) error {
	value, err := fakeCredentials()
	if err != nil {
		return err
	}
	if _, err := secretsmanager.NewFromConfig(s.AWS()).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(s.ProviderSecret), SecretString: aws.String(value),
	}); err != nil {
		return fmt.Errorf("storing the credentials of the fakes: %w", err)
	}
	return nil
}
