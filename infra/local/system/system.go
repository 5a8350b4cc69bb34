// Package system runs the service on one machine. The CDK CLI deploys the synthesised template
// onto an emulated AWS, whose Lambda runs the functions as processes, behind a proxy that makes
// it look like the deployed API. Several systems can run at once; each keeps its files in its
// own folder.
package system

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/content-automation/api/infra/local/edge"
	"github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/cloud/topology"
	testfakes "github.com/content-automation/api/testdata/fakes"
)

// customer is the entry of cdk.json for the local system. stage is the gateway's stage.
const (
	customer = "local"
	stage    = "local"
)

// Options are the options of Start. The zero value of each field has a default.
type Options struct {
	// Root is the checkout. The default is the checkout of the working directory.
	Root string
	// Dir is the folder for all files of the system. It replaces the files of an earlier
	// system. The default is .local/system in the checkout.
	Dir string
	// Port is the loopback port of the API. The default is any free port.
	Port int
	// Region is the region of the emulated AWS. The default is us-west-2, which has nearly
	// all models.
	Region string
	// RealProviders leaves the fakes of the generation providers out. Live keys then use
	// the providers themselves, with the credentials that an operator has put into the
	// secret. AWS's own providers are left out too, because the AWS here is emulated.
	RealProviders bool
	// SAM serves the API by AWS SAM, with its functions in containers, instead of the gateway
	// of the emulated AWS. It needs a Docker engine.
	SAM bool
	// Context has values that override the context values of cdk.json.
	Context map[string]string
	// Say is called with a description of each step.
	Say func(string)
	// Through returns the address of a proxy for the address of a service. The functions
	// call the proxy instead. Nil means no proxy.
	Through func(service Service, endpoint string) (string, error)
}

// Service is a service that the functions call.
type Service string

// The services: the emulated AWS, and the fakes of the providers.
const (
	AWS       Service = "aws"
	Providers Service = "providers"
	Platforms Service = "platforms"
)

// System is a running system.
type System struct {
	// BaseURL is the address of the API.
	BaseURL string
	// Endpoint is the address of the emulated AWS.
	Endpoint string
	Region   string
	// Names of resources of the stacks, as the functions know them.
	Table, AuditTable, MediaBucket, Bus string
	// QueueURLs are the addresses of all queues.
	QueueURLs map[topology.Queue]string
	// ProviderSecret is the ARN of the secret with the credentials of providers. Providers is
	// the address of the fakes, or empty if live keys use the real providers.
	ProviderSecret, Providers string
	// PlatformSecret is the ARN of the secret with the applications at the social platforms.
	// Platforms is the address of the platforms' fakes.
	PlatformSecret, Platforms string
	// Password is the password of identity.Users. With SAM it is empty, and nobody signs in: the
	// functions in containers reach neither the pool nor the API by the addresses that browsers use.
	Password string
	// Outputs are all the outputs of the stacks.
	Outputs map[string]string
	// Logs is the folder of the logs: functions.log of the functions, ministack.log of the
	// emulated AWS, and one file for each step of the start. Functions that SAM runs log to
	// sam.log.
	Logs string

	emulator  *emulator
	fakes     *fakes
	platforms *fakes
	sam       *sam
	server    *http.Server
	release   func()
	once      sync.Once
}

// Start installs missing tools, builds the functions, starts the emulated AWS, deploys the
// stacks onto it and serves the API. If it fails, it ends all processes that it has started;
// otherwise Stop does.
func Start(ctx context.Context, o Options) (_ *System, err error) {
	o, err = o.complete()
	if err != nil {
		return nil, err
	}
	if err := CheckTools(ctx); err != nil {
		return nil, err
	}
	if o.SAM {
		if err := checkEngine(ctx); err != nil {
			return nil, err
		}
	}
	// The port is taken from here on, so that no other program takes it during the start.
	listener, err := listen(ctx, o.Port)
	if err != nil {
		return nil, err
	}
	s := &System{Region: o.Region, Logs: o.Dir}
	defer func() {
		if err != nil {
			_ = listener.Close()
			s.Stop()
		}
	}()
	if s.release, err = claim(o.Dir); err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	host := "localhost:" + strconv.Itoa(port)
	s.BaseURL = "http://" + host
	if err := s.bringUp(ctx, o); err != nil {
		return nil, err
	}
	if o.SAM {
		_ = listener.Close() // SAM takes the port.
		if err := s.startSAM(ctx, o, port); err != nil {
			return nil, err
		}
		return s, nil
	}
	if err := s.makeUsers(ctx); err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(s.Outputs["KeylessLimit"])
	if err != nil {
		return nil, fmt.Errorf("the stacks have no output KeylessLimit: %w", err)
	}
	gateway, err := url.Parse(fmt.Sprintf("%s/_aws/execute-api/%s/%s", s.Endpoint, s.Outputs["ApiId"], stage))
	if err != nil {
		return nil, err
	}
	s.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: edge.New(edge.Config{
		Gateway: gateway, Host: host, Stage: stage, Keyless: limit, Now: time.Now,
	})}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// bringUp builds and synthesises while the tools are installed and the emulator starts, and
// then deploys.
func (s *System) bringUp(ctx context.Context, o Options) error {
	providers := ""
	if !o.RealProviders {
		var err error
		if s.fakes, err = newFakes(ctx, o.Dir, providerFakes); err != nil {
			return err
		}
		s.Providers = s.fakes.endpoint()
		if providers, err = o.Through(Providers, s.Providers); err != nil {
			return err
		}
	}
	var err error
	if s.platforms, err = newFakes(ctx, o.Dir, platformFakes); err != nil {
		return err
	}
	s.Platforms = s.platforms.endpoint()
	platforms, err := o.Through(Platforms, s.Platforms)
	if err != nil {
		return err
	}
	d := deployment{
		root: o.Root, dir: o.Dir, cdk: installed(o.Root).cdk, region: o.Region,
		context: withFakes(o.Context, providers, platforms), target: Machine(),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	built := make(chan error, 1)
	go func() {
		o.Say("Building the functions and synthesising the stacks")
		err := Build(ctx, o.Root, d.target, appCommand, providersCommand, platformsCommand)
		if err == nil {
			err = d.synthesise(ctx)
		}
		if err != nil {
			cancel() // The emulator is no longer needed.
		}
		built <- err
	}()
	emulatorErr := Install(ctx, o.Root, o.Say, Base)
	if emulatorErr == nil {
		o.Say("Starting the local AWS")
		s.emulator, emulatorErr = startEmulator(ctx, installed(o.Root).python, o)
	}
	if emulatorErr == nil {
		s.Endpoint = s.emulator.endpoint
		emulatorErr = d.bootstrap(ctx, s.Endpoint)
	}
	if emulatorErr != nil {
		cancel()
	}
	if err := <-built; err != nil && !(errors.Is(err, context.Canceled) && emulatorErr != nil) {
		return err
	}
	if emulatorErr != nil {
		return emulatorErr
	}
	o.Say("Deploying the stacks onto it")
	outputs, err := d.deploy(ctx, s.Endpoint, s.BaseURL)
	if err != nil {
		return err
	}
	s.Outputs = outputs
	for name, field := range map[string]*string{
		"TableName": &s.Table, "AuditTableName": &s.AuditTable, "MediaBucket": &s.MediaBucket, "BusName": &s.Bus,
		"ApiId": new(string), "ProviderSecretArn": &s.ProviderSecret, "PlatformSecretArn": &s.PlatformSecret,
	} {
		if *field = outputs[name]; *field == "" {
			return fmt.Errorf("the stacks have no output %s", name)
		}
	}
	s.QueueURLs = map[topology.Queue]string{}
	for _, q := range topology.Queues {
		if s.QueueURLs[q] = outputs[q.Output()]; s.QueueURLs[q] == "" {
			return fmt.Errorf("the stacks have no output %s", q.Output())
		}
	}
	o.Say("Starting the fakes of the providers and platforms")
	binaries := filepath.Join(o.Root, d.target.linked())
	if err := s.platforms.start(ctx, binaries, "/_posts", nil); err != nil {
		return err
	}
	if err := s.keep(ctx, s.PlatformSecret, testfakes.Apps); err != nil || s.fakes == nil {
		return err
	}
	if err := s.fakes.startProviders(ctx, binaries, s.Endpoint, s.Region); err != nil {
		return err
	}
	return s.keep(ctx, s.ProviderSecret, testfakes.Credentials)
}

// Stop ends the processes that Start has started: the proxy, the emulated AWS with the
// functions, and the fakes of the providers.
func (s *System) Stop() {
	s.once.Do(func() {
		if s.server != nil {
			_ = s.server.Close()
		}
		if s.sam != nil {
			s.sam.end()
		}
		if s.emulator != nil {
			s.emulator.end(grace)
		}
		for _, f := range []*fakes{s.fakes, s.platforms} {
			if f != nil && f.process != nil {
				f.end(grace)
			}
		}
		// The unpacked code of the functions takes a few hundred megabytes.
		_ = os.RemoveAll(filepath.Join(s.Logs, "tmp"))
		if s.release != nil {
			s.release()
		}
	})
}

// Ended returns a channel that is closed when the emulated AWS or SAM ends, by itself or by
// Stop.
func (s *System) Ended() <-chan struct{} {
	if s.sam == nil {
		return s.emulator.done
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-s.emulator.done:
		case <-s.sam.done:
		}
	}()
	return ended
}

// AWS returns a configuration of the SDK for the emulated AWS. Clients of S3 also need
// UsePathStyle.
func (s *System) AWS() aws.Config {
	return aws.Config{
		Region:       s.Region,
		BaseEndpoint: aws.String(s.Endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: awsKey, SecretAccessKey: awsKey, Source: "the local system"}, nil
		}),
	}
}

// Environment returns the variables with which the operator's command works on this system, as
// lines of NAME=value.
func (s *System) Environment() string {
	return fmt.Sprintf("AWS_ENDPOINT_URL=%s\nAWS_REGION=%s\nAWS_ACCESS_KEY_ID=%[3]s\nAWS_SECRET_ACCESS_KEY=%[3]s\nTABLE_NAME=%[4]s\nSTACK_NAME=%[5]s\nPROVIDER_SECRET=%[6]s\nPLATFORM_SECRET=%[8]s\nAUDIT_TABLE_NAME=%[7]s\nMEDIA_BUCKET=%[9]s\n",
		s.Endpoint, s.Region, awsKey, s.Table, customer+"-"+stage+"-"+s.Region, s.ProviderSecret, s.AuditTable,
		s.PlatformSecret, s.MediaBucket)
}

func (o Options) complete() (Options, error) {
	if o.Root == "" {
		root, err := checkout()
		if err != nil {
			return o, err
		}
		o.Root = root
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(o.Root, ".local", "system")
	}
	if o.Region == "" {
		o.Region = "us-west-2"
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Through == nil {
		o.Through = func(_ Service, endpoint string) (string, error) { return endpoint, nil }
	}
	var err error
	if o.Root, err = filepath.Abs(o.Root); err != nil {
		return o, err
	}
	o.Dir, err = filepath.Abs(o.Dir)
	return o, err
}

// checkout returns the folder of the module that has the working directory.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "cdk.json")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("the working directory is in no checkout of the project")
		}
		dir = filepath.Dir(dir)
	}
}

// claim locks the system's folder for this system, and removes old files from it.
func claim(dir string) (release func(), err error) {
	now, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	release, err = lock(now, filepath.Join(dir, "lock"))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another local system runs in %s: stop it first", dir)
	}
	if err != nil {
		return nil, err
	}
	// The assembly and the app of an earlier system stay, because they save time.
	for _, name := range []string{"tmp", "state", "s3"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			release()
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// FunctionName returns the name of a function as deployed.
func (s *System) FunctionName(function string) string { return customer + "-" + stage + "-" + function }

// Invoke calls a function by its name, and decodes its result.
func (s *System) Invoke(ctx context.Context, function, payload string, into any) error {
	client := lambda.NewFromConfig(s.AWS(), func(o *lambda.Options) {
		// The client must neither repeat a failed call nor cut it short.
		o.Retryer, o.HTTPClient = aws.NopRetryer{}, &http.Client{Transport: direct.Transport}
	})
	out, err := client.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(s.FunctionName(function)),
		Payload: []byte(payload)})
	if err == nil && out.FunctionError != nil {
		err = fmt.Errorf("%s: %s", *out.FunctionError, out.Payload)
	}
	if err == nil {
		err = json.Unmarshal(out.Payload, into)
	}
	if err != nil {
		return fmt.Errorf("calling the function %s: %w", function, err)
	}
	return nil
}

// makeUsers adds identity.Users to the user pool, and sets Password.
func (s *System) makeUsers(ctx context.Context) error {
	pool, password := s.Outputs["UserPoolId"], rand.Text()[:12]
	client := cognitoidentityprovider.NewFromConfig(s.AWS())
	for _, u := range identity.Users() {
		_, err := client.AdminCreateUser(ctx, &cognitoidentityprovider.AdminCreateUserInput{
			UserPoolId: &pool, Username: &u.Email, MessageAction: types.MessageActionTypeSuppress,
			UserAttributes: []types.AttributeType{{Name: aws.String("email"), Value: &u.Email},
				{Name: aws.String("email_verified"), Value: aws.String("true")}, {Name: aws.String("name"), Value: &u.Name}},
		})
		if err == nil {
			_, err = client.AdminSetUserPassword(ctx, &cognitoidentityprovider.AdminSetUserPasswordInput{
				UserPoolId: &pool, Username: &u.Email, Password: &password, Permanent: true})
		}
		if err != nil {
			return fmt.Errorf("adding %s to the user pool: %w", u.Email, err)
		}
	}
	s.Password = password
	return nil
}

// PortError is returned when the requested port is not available.
type PortError struct {
	Port  int
	Cause error
}

// Error names the port.
func (e *PortError) Error() string { return fmt.Sprintf("port %d cannot be used: %v", e.Port, e.Cause) }

// Unwrap returns the cause.
func (e *PortError) Unwrap() error { return e.Cause }

func listen(ctx context.Context, port int) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, &PortError{port, err}
	}
	return listener, nil
}

// logged adds the end of a child's log to its error, because the log has the cause.
func logged(err error, doing, log string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	const lines = 15
	text, readErr := os.ReadFile(log)
	if readErr != nil || len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%s failed: %w", doing, err)
	}
	all := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return fmt.Errorf("%s failed (%w); all of it is in %s, which ends:\n%s", doing, err, log,
		bytes.Join(all, []byte("\n")))
}

// The account and the credentials for the emulated AWS, which accepts any.
const (
	awsAccount = "000000000000"
	awsKey     = "test"
)

// passed are the variables of the person at the terminal that a child process gets: the places
// of programs and certificates, and the network's settings. All others stay out of the local
// system, above all AWS credentials.
var passed = []string{
	"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "SHELL",
	"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN", "GONOSUMDB", "GOPRIVATE",
}

// environment returns the environment of a child process: the passed variables and those of set.
func environment(set map[string]string) []string {
	var env []string
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	// The emulated AWS and the fakes are on this machine, so no proxy may be used.
	env = append(env, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// withTools returns the environment for a tool that installs something. It includes the
// person's whole environment, with the settings for registries and caches.
func withTools() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
}
