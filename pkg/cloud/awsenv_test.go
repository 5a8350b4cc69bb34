package cloud_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/awsenv"
)

// environment sets the variables that Lambda sets.
func environment(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "token", "AWS_ENDPOINT_URL": "",
	} {
		t.Setenv(name, value)
	}
}

func TestTheConfigurationIsThatOfTheEnvironment(t *testing.T) {
	environment(t)
	cfg, err := awsenv.Config()
	if err != nil || cfg.Region != "eu-central-1" || cfg.BaseEndpoint != nil {
		t.Fatalf("%+v, %v", cfg, err)
	}
	c, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || c.AccessKeyID != "id" || c.SecretAccessKey != "secret" || c.SessionToken != "token" {
		t.Errorf("%+v, %v", c, err)
	}
	if n := cfg.Retryer().MaxAttempts(); n != 4 {
		t.Errorf("%d attempts", n)
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
	if cfg, err = awsenv.Config(); err != nil || *cfg.BaseEndpoint != "http://127.0.0.1:4566" {
		t.Errorf("%+v, %v", cfg, err)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	environment(t)
	t.Setenv("AWS_REGION", "")
	if _, err := awsenv.Config(); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		environment(t)
		t.Setenv(name, "")
		cfg, err := awsenv.Config()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cfg.Credentials.Retrieve(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestMust(t *testing.T) {
	if got := awsenv.Must(7, nil); got != 7 {
		t.Errorf("got %d", got)
	}
	wrong := errors.New("no way")
	defer func() {
		if v := recover(); v != wrong {
			t.Errorf("the panic says %v", v)
		}
	}()
	awsenv.Must(0, wrong)
}
