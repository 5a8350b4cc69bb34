//go:build !deployed

// Package e2e tests the whole service as a caller sees it: in one process, as `make run` starts it. With the build tag
// deployed, the real CDK CLI deploys the synthesised template onto a local AWS, and the tests call that; the files with
// the tag have tests that only the template can pass.
package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/local/standalone"
	job "github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/area/training/tune"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/composer"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// signature is the verdict on the signature of a file of the system.
const signature = "valid"

// local is a service in this process, with the names that the deployed template has, too.
type local struct {
	*standalone.Service
	Endpoint, Region, Logs, Table, AuditTable, ProviderSecret, PlatformSecret string
	Outputs                                                                   map[string]string
}

// running is the service that all tests of the package call. Each test makes its own account, so that the tests do not
// affect each other.
var running local

// newComposer returns the composer of the service.
var newComposer func(files *objects.Store) generate.Composer

// root is the root of the checkout.
const root = "../../.."

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := filepath.Abs(filepath.Join(root, ".local", "e2e-standalone"))
	if err == nil {
		err = start(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the service does not start:", err)
		return 1
	}
	defer running.Stop()
	code := m.Run()
	// After all tests, no table and no log may have a secret.
	found, err := leaks(context.Background(), dir)
	private, failed := privateLines(dir)
	found = append(found, private...)
	if err == nil {
		err = failed
	}
	if err == nil {
		private, err = unlogged(dir)
		found = append(found, private...)
	}
	if err != nil || len(found) > 0 {
		fmt.Fprintln(os.Stderr, "the search found:", strings.Join(found[:min(len(found), 50)], "\n"), err)
		return max(code, 1)
	}
	return code
}

// start starts the service with its data in a folder, which replaces those of an earlier run.
func start(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	scratch := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "functions.log"))
	if err != nil {
		return err
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, nil)))
	metric.SetOutput(log)
	media, err := filepath.Abs(filepath.Join(root, ".tools", "media"))
	if err != nil {
		return err
	}
	engine, err := compose.New(compose.Settings{FFmpeg: filepath.Join(media, "ffmpeg"),
		Fonts: filepath.Join(media, "fonts"), Scratch: scratch, Threads: runtime.NumCPU()})
	if err != nil {
		return err
	}
	signer, err := c2pa.NewTest(time.Now())
	if err != nil {
		return err
	}
	credentials, err := c2pa.OpenCredentials(filepath.Join(media, "c2pa", "libs", "libc2pa_c.so"), signer, nil)
	if err != nil {
		return err
	}
	newComposer = func(files *objects.Store) generate.Composer {
		return &composer.Composer{Engine: engine, Objects: files, Dir: scratch, Credentials: credentials}
	}
	s, err := standalone.Start(standalone.Options{
		Dir: dir, Manifests: credentials, FFmpeg: ffmpeg.Tool{Path: filepath.Join(media, "ffmpeg")},
		Keyless: keylessLimit, Assets: os.DirFS(filepath.Join(root, "pkg/service/docs")),
		Compose: newComposer,
		Trainer: func(cfg aws.Config, fakes, bucket string) job.Trainer {
			return tune.New(tune.Config{AWS: cfg, Fakes: fakes, Bucket: bucket, Role: "arn:aws:iam::000000000000:role/local"})
		},
	})
	if err != nil {
		return err
	}
	running = local{Service: s, Endpoint: s.Endpoint(), Region: "us-west-2", Logs: dir,
		Table: standalone.StateTable, AuditTable: standalone.AuditTable,
		ProviderSecret: standalone.ProviderSecret, PlatformSecret: standalone.PlatformSecret,
		Outputs: map[string]string{"SealSecretArn": standalone.SealSecret, "CanarySecretArn": standalone.CanarySecret}}
	return nil
}

// ours reports whether a process is the running service.
func ours(process int) bool { return process == os.Getpid() }
