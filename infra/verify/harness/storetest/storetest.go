// Package storetest makes tables for tests: in memory, or in the DynamoDB engine that
// AWS_ENDPOINT_URL_DYNAMODB names.
package storetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// Open makes an empty table and returns it with the given clock. The table has the indexes of all tables of the
// service, so that it can serve as any of them. Each of with may change the configuration of the client, to count calls
// or to make some fail.
func Open(t testing.TB, now func() time.Time, with ...func(*aws.Config)) *store.DB {
	t.Helper()
	return open(t, now, nil, with...)
}

func open(t testing.TB, now func() time.Time, client func(*memtable.Engine, aws.Config) store.Client,
	with ...func(*aws.Config)) *store.DB {
	t.Helper()
	db, drop, err := makeTable(context.Background(), now, client, with...)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Errorf("storetest: %v", err)
		}
	})
	return db
}

// Bare is Open for tests that make millions of calls. They reach the engine in memory without the SDK, which would take
// most of the time, and cannot be made to fail.
func Bare(t testing.TB, now func() time.Time) *store.DB {
	t.Helper()
	memory := memtable.NewObserved(now, forget)
	cfg := config("http://memory")
	cfg.HTTPClient = memory
	table, err := newTable(t.Context(), cfg)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	db := store.Open(cfg, table.name, store.WithClient(memory), store.WithClock(now))
	opened.Store(db, table)
	t.Cleanup(func() { opened.Delete(db) })
	return db
}

// Make is Open for programs other than tests. The returned function drop removes the table.
func Make(ctx context.Context, now func() time.Time, with ...func(*aws.Config)) (db *store.DB,
	drop func(context.Context) error, err error) {
	return makeTable(ctx, now, nil, with...)
}

// makeTable makes a table. Client returns the client of a table in memory; nil stands for the engine itself, if nothing
// changes the configuration.
func makeTable(ctx context.Context, now func() time.Time, client func(*memtable.Engine, aws.Config) store.Client,
	with ...func(*aws.Config)) (db *store.DB, drop func(context.Context) error, err error) {
	cfg, err := engine(now)
	if err != nil {
		return nil, nil, err
	}
	table, err := newTable(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	for _, change := range with {
		change(&cfg)
	}
	set := []store.Option{store.WithClock(now)}
	switch {
	case table.memory == nil || !direct:
	case client != nil:
		set = append(set, store.WithClient(client(table.memory, cfg)))
	case len(with) == 0:
		set = append(set, store.WithClient(table.memory))
	}
	db = store.Open(cfg, table.name, set...)
	opened.Store(db, table)
	drop = func(ctx context.Context) error {
		opened.Delete(db)
		_, err := table.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table.name})
		var gone *types.ResourceNotFoundException
		if err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("delete table: %w", err)
		}
		return nil
	}
	return db, drop, nil
}

// newTable makes an empty table in an engine.
func newTable(ctx context.Context, cfg aws.Config) (raw, error) {
	table := raw{client: dynamodb.NewFromConfig(cfg), name: "test-" + rand.Text()}
	table.memory, _ = cfg.HTTPClient.(*memtable.Engine)
	return table, CreateTable(ctx, table.client, table.name)
}

// forget keeps no changes of a table.
func forget([]memtable.Change) func() { return nil }

// onEngine places tables in a real engine instead of memory. Programs that measure themselves need one, because it
// takes none of their CPU time.
var onEngine = os.Getenv("AWS_ENDPOINT_URL_DYNAMODB") != "" || !testing.Testing()

// InMemory places the tables of one test in memory, whatever engine is used. The clock of a synctest bubble stops while
// a call is on the network.
func InMemory(t testing.TB) {
	was := onEngine
	onEngine = false
	t.Cleanup(func() { onEngine = was })
}

// UseMemory places all tables in memory from now on.
func UseMemory() { onEngine = false }

// engine returns the configuration that reaches the engine.
func engine(now func() time.Time) (aws.Config, error) {
	if !onEngine {
		cfg := config("http://memory")
		cfg.HTTPClient = memtable.NewObserved(now, forget)
		// Nobody reads signatures, which take a tenth of the time of a call.
		cfg.Credentials = aws.AnonymousCredentials{}
		return cfg, nil
	}
	address, err := endpoint()
	return config(address), err
}

// Local returns the configuration of the local AWS itself, which also has queues.
func Local(t testing.TB) aws.Config {
	t.Helper()
	address, err := started()
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	return config(address)
}

// accessKey belongs to this process alone. DynamoDB Local keeps a database for each key, and becomes slower with each
// table that was ever made in a database.
var accessKey = rand.Text()

func config(address string) aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: &address,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: "test"}, nil
		}),
	}
}

// CreateTable makes a table with the schema of pkg/store, and waits until it is active.
func CreateTable(ctx context.Context, client *dynamodb.Client, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	_, err := client.CreateTable(ctx, store.CreateInput(name, indexes))
	// Only this process knows the name: if the table exists already, the answer was lost and the SDK has retried.
	var ours *types.ResourceInUseException
	if err != nil && !errors.As(err, &ours) {
		return fmt.Errorf("create table: %w", err)
	}
	active := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	if err := active.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, startTimeout); err != nil {
		return fmt.Errorf("the table does not become active: %w", err)
	}
	return nil
}

// indexes are the indexes of all tables of the service.
var indexes = slices.Concat(store.StateIndexes, store.AuditIndexes)

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
