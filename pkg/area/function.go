// Package area starts the Lambda functions of the areas, which are alike but
// for the operations that they serve.
package area

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Env is what areas are made from. An area uses only what its function needs; the
// zero value serves to describe its operations.
type Env struct {
	AWS    aws.Config
	DB     *store.DB // the state table
	Audit  *audit.Log
	Media  *media.Signer
	Now    func() time.Time
	Random io.Reader
	// Seal is the system's secret, which remembered answers are sealed with.
	Seal seal.Secret
	// Envelope seals what is kept of customers' secrets.
	Envelope *seal.Envelope
	// Providers are those that live keys may use, separated by commas.
	Providers string
	// Converser answers the chats of live keys.
	Converser provider.Converser
	// Moderator moderates the texts that callers with live keys write themselves, or is nil if none are.
	Moderator provider.Moderator
	// Loopback permits addresses of callers on loopback.
	Loopback bool
	// HTTP replaces the clients that Client makes; nil for the network.
	HTTP Client
	// DeliverRole is the role that assumes those of customers.
	DeliverRole arn.ARN
	// Apps reads the secret with the applications that the operator has registered with
	// platforms; nil: there are none. PlatformEndpoint replaces the platforms by fakes.
	Apps             func(context.Context) (string, error)
	PlatformEndpoint string
	// Platforms are the platforms that the stack has, or nil if it has all.
	Platforms []string
}

// Client checks and fetches the addresses of callers.
type Client interface {
	Do(req *http.Request) (*http.Response, error)
	safehttp.Checker
}

// Client returns the client for the addresses of callers.
func (e Env) Client(o safehttp.Options) Client {
	if e.HTTP != nil {
		return e.HTTP
	}
	o.AllowLoopback = e.Loopback
	return safehttp.New(o)
}

// Mount registers the operations of an area with a router.
type Mount func(r *httpapi.Router, e Env)

// Open connects to what every area that keeps state needs.
func Open(n needs.Area) Env {
	cfg := awsenv.Must(awsenv.Config())
	return Env{
		AWS:   cfg,
		DB:    store.Open(cfg, n.Table),
		Audit: audit.New(store.Open(cfg, n.AuditTable), time.Now).In(cfg.Region),
		Now:   time.Now, Random: rand.Reader, Seal: stored.Secret(cfg, n.SealSecret, time.Now),
	}
}

// Serve serves an area. It does not return.
func Serve(mount Mount, e Env) { ServeWith(mount, e, func(r http.Handler) http.Handler { return r }) }

// ServeWith is Serve for an area that serves more than its operations.
func ServeWith(mount Mount, e Env, with func(operations http.Handler) http.Handler) {
	r := httpapi.NewRouter(e.DB, e.Audit, e.Now)
	r.SealWith(e.Seal)
	mount(r, e)
	httpapi.StartLambda(with(r))
}
