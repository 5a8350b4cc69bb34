package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/providers/control"
)

// plenty is a rate limit that is never reached.
const plenty = 1_000_000

// world is a separate system with a receiver of webhooks. Its functions reach AWS and the fake providers through
// proxies.
type world struct {
	system    *system.System
	aws       *proxy
	providers *proxy
	receiver  *receiver
	queues    *sqs.Client
}

// newWorld starts the system, which writes its files into dir.
func newWorld(ctx context.Context, dir string, say func(string)) (_ *world, err error) {
	w := &world{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.aws, err = newProxy(ctx, "", ofAWS); err != nil {
		return nil, err
	}
	if w.providers, err = newProxy(ctx, w.aws.address, ofProvider); err != nil {
		return nil, err
	}
	if w.receiver, err = newReceiver(ctx, w.aws.address); err != nil {
		return nil, err
	}
	through := func(service system.Service, endpoint string) (string, error) {
		switch service {
		case system.AWS:
			return w.aws.through(endpoint)
		case system.Providers:
			return w.providers.through(endpoint)
		case system.Platforms:
			return endpoint, nil
		default:
			return "", fmt.Errorf("no proxy for %s", service)
		}
	}
	if w.system, err = system.Start(ctx, system.Options{Dir: dir, Say: say, Through: through}); err != nil {
		return nil, err
	}
	w.queues = sqs.NewFromConfig(w.system.AWS())
	return w, nil
}

// close stops everything that newWorld has started.
func (w *world) close() error {
	if w.system != nil {
		w.system.Stop()
	}
	var all error
	if w.receiver != nil {
		all = w.receiver.Close()
	}
	for _, p := range []*proxy{w.aws, w.providers} {
		if p != nil {
			all = errors.Join(all, p.Close())
		}
	}
	return all
}

// newKey creates an account with credits, and returns the secret of a key of it that has all permissions.
func (w *world) newKey(ctx context.Context, name string, mode tenant.Mode) (string, error) {
	db := store.Open(w.system.AWS(), w.system.Table)
	accounts := account.NewService(db, time.Now)
	limit := plenty
	a, err := accounts.Create(ctx, account.Settings{Name: &name, TestLimit: &limit, LiveLimit: &limit})
	if err != nil {
		return "", err
	}
	if _, err := accounts.TopUp(ctx, tenant.Account(a.ID), credits); err != nil {
		return "", err
	}
	k, err := apikey.NewService(db, accounts, time.Now, rand.Reader).Issue(ctx, tenant.Account(a.ID), mode,
		apikey.Settings{Name: name, Scopes: auth.AllScopes()})
	return k.Secret, err
}

// sweep calls the function due as an operator does who knows that messages were lost.
func (w *world) sweep(ctx context.Context) (found worker.SearchResult, err error) {
	err = w.system.Invoke(ctx, "due", `{"now":true}`, &found)
	return found, err
}

// wipe empties queues, including the messages that are in work.
func (w *world) wipe(ctx context.Context, urls ...string) error {
	var all error
	for _, url := range urls {
		_, err := w.queues.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
		all = errors.Join(all, err)
	}
	return all
}

// messages returns the number of messages that the queues hold in any state.
func (w *world) messages(ctx context.Context, urls ...string) (n int, err error) {
	for _, url := range urls {
		out, err := w.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			return 0, err
		}
		for name, value := range out.Attributes {
			if strings.HasPrefix(name, string(types.QueueAttributeNameApproximateNumberOfMessages)) {
				some, err := strconv.Atoi(value)
				if err != nil {
					return 0, err
				}
				n += some
			}
		}
	}
	return n, nil
}

// process is the process of a function. Its handle refers to this process even if a later process gets the same
// number.
type process struct {
	function string
	handle   *os.Process
}

// pid returns the number of the process, or 0 if there is no process.
func (p process) pid() int {
	if p.handle == nil {
		return 0
	}
	return p.handle.Pid
}

// kill ends the process as a power cut would.
func (p process) kill() error { return p.handle.Signal(syscall.SIGKILL) }

// stop freezes the process, and resume continues it as if no time had passed.
func (p process) stop() error   { return p.handle.Signal(syscall.SIGSTOP) }
func (p process) resume() error { return p.handle.Signal(syscall.SIGCONT) }

// processes finds the functions that one system runs. It knows them by the address of AWS in their environment,
// which is unique to the system.
type processes struct {
	endpoint string
	proc     string // the directory in which the kernel lists processes
}

// function returns the name of the function that a process runs, or an empty string if the process is not one of
// the system's.
func (s processes) function(pid int) string {
	env, err := os.ReadFile(filepath.Join(s.proc, strconv.Itoa(pid), "environ"))
	if err != nil {
		return "" // the process has ended, or belongs to another user
	}
	var name string
	ours := false
	for pair := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(pair, []byte("AWS_LAMBDA_FUNCTION_NAME=")); ok {
			name = string(value)
		}
		ours = ours || string(pair) == "AWS_ENDPOINT_URL="+s.endpoint
	}
	if !ours {
		return ""
	}
	// The functions of the stacks are named for customer, stage and function.
	parts := strings.SplitN(name, "-", 3)
	return parts[len(parts)-1]
}

// open returns the process with a number. It returns false if the process is not one of the system's.
func (s processes) open(pid int) (process, bool) {
	handle, err := os.FindProcess(pid)
	if err != nil {
		return process{}, false
	}
	// The check follows the opening of the handle, so that both refer to the same process.
	if name := s.function(pid); name != "" {
		return process{name, handle}, true
	}
	_ = handle.Release()
	return process{}, false
}

// pids returns the numbers of the processes that run the function.
func (s processes) pids(function string) []int {
	var all []int
	dirs, _ := filepath.Glob(filepath.Join(s.proc, "[0-9]*"))
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			if name := s.function(pid); name != "" && (function == "" || name == function) {
				all = append(all, pid)
			}
		}
	}
	return all
}

// behind returns the process at the other end of a connection.
func (s processes) behind(conn net.Conn) (process, bool) {
	here, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return process{}, false
	}
	there, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return process{}, false
	}
	inode, err := s.inode(there.Port(), here.Port())
	if err != nil {
		return process{}, false
	}
	socket := "socket:[" + inode + "]"
	for _, pid := range s.pids("") {
		files, _ := filepath.Glob(filepath.Join(s.proc, strconv.Itoa(pid), "fd", "*"))
		if slices.ContainsFunc(files, func(name string) bool {
			target,
				_ := os.Readlink(name)
			return target == socket
		}) {
			return s.open(pid)
		}
	}
	return process{}, false
}

// inode returns the number of the socket of a connection between two loopback ports, seen from the first one's end.
func (s processes) inode(from, to uint16) (string, error) {
	const local, remote, number = 1, 2, 9 // columns
	file, err := os.Open(filepath.Join(s.proc, "net", "tcp"))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Fields(lines.Text())
		if len(columns) > number && strings.HasSuffix(columns[local], fmt.Sprintf(":%04X", from)) &&
			strings.HasSuffix(columns[remote], fmt.Sprintf(":%04X", to)) {
			return columns[number], nil
		}
	}
	return "", fmt.Errorf("no connection from port %d to port %d", from, to)
}

// proxy stands between the functions and a service. It can observe, refuse, lose and repeat their requests.
type proxy struct {
	gate
	address string // the address at which the functions find it
	target  atomic.Pointer[url.URL]
	server  *http.Server
}

// newProxy serves a proxy on a free port of loopback. The proxy has no target yet. It identifies the functions by
// their address of AWS, which is the proxy's own address if aws is empty.
func newProxy(ctx context.Context, aws string, operation func(*http.Request) string) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{address: "http://" + listener.Addr().String()}
	p.functions = processes{endpoint: cmp.Or(aws, p.address), proc: "/proc"}
	p.operation = operation
	p.next = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.target.Load())
			r.Out.Host = r.In.Host // the signature covers the host
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ErrorLog:  slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	p.server = p.gate.server()
	go func() { _ = p.server.Serve(listener) }() // returns ErrServerClosed, when closed
	return p, nil
}

// through sets the target and returns the proxy's own address.
func (p *proxy) through(endpoint string) (string, error) {
	target, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("the address of a service: %w", err)
	}
	p.target.Store(target)
	return p.address, nil
}

// Close stops the proxy.
func (p *proxy) Close() error { return p.server.Close() }

// ofAWS names the operation of a call of AWS: by the header that most services have, or else by method and service.
func ofAWS(r *http.Request) string {
	if _, name, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		return name
	}
	// Credential=<key>/<date>/<region>/<service>/aws4_request
	if parts := strings.Split(r.Header.Get("Authorization"), "/"); len(parts) > 3 {
		return r.Method + " " + parts[3]
	}
	return r.Method
}

// ofProvider names the operation of a call of a provider or a platform: by the method and the name of the provider.
func ofProvider(r *http.Request) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method + " " + name
}

// fakes calls the control interface of the fake providers.
func (w *world) fakes(ctx context.Context, method, path string, order, into any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, w.system.Providers+"/_control"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the fakes of the providers answer %s to %s %s", resp.Status, method, path)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// bought returns the number of generations that the providers have accepted.
func (w *world) bought(ctx context.Context) (int, error) {
	var log struct{ Accepted []control.Acceptance }
	err := w.fakes(ctx, http.MethodGet, "/log", nil, &log)
	return len(log.Accepted), err
}
