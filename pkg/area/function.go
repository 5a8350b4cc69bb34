// Package area has what the areas are made from. Env has what an area is opened with, and Mount registers its
// operations.
package area

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/cloud/seal/stored"
	"github.com/content-automation/api/pkg/cloud/secret"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate/catalog"
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
	// Signatures signs dossiers. If it is nil, the key of sandboxes does, which everybody knows.
	Signatures seal.Signer
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
	// Mails reports that the stack sends e-mails to people.
	Mails bool
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

// Offer returns the models that the stack offers.
func (e Env) Offer() catalog.Offer { return catalog.NewOffer(e.Providers, e.AWS.Region, e.Now) }

// Open returns what a deployed function needs, according to its entry in the table of functions. It panics where
// something is missing, so that a deployment fails.
func Open(f topology.Function) Env {
	n, cfg := needs.Read(f), awsenv.Must(awsenv.Config())
	e := Env{AWS: cfg, Now: time.Now, Random: rand.Reader, Providers: n.Providers, Mails: n.MailSender != "",
		Loopback: awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))}
	if n.Table != "" {
		e.DB = store.Open(cfg, n.Table)
	}
	if n.AuditTable != "" {
		e.Audit = audit.New(store.Open(cfg, n.AuditTable), time.Now).In(cfg.Region)
	}
	if n.SealSecret != "" {
		e.Seal = stored.Secret(cfg, n.SealSecret, time.Now)
	}
	if n.Bucket != "" {
		e.Media = awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	}
	if n.SecretsKey != "" {
		purpose := seal.ForSigning
		if f.May(topology.CallPlatforms) {
			purpose = seal.ForTokens
		}
		e.Envelope = seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, purpose), time.Now)
	}
	if f.May(topology.CallPlatforms) {
		e.Apps, e.PlatformEndpoint = secret.Manager(cfg, n.PlatformSecret), n.PlatformEndpoint
		e.Platforms = registry.With(strings.Split(n.Platforms, ","))
	}
	if f.May(topology.NameDeliverRole) {
		e.DeliverRole = awsenv.Must(arn.Parse(n.DeliverRole))
	}
	if f.May(topology.CallTextModels) {
		e.Converser = bedrock.Open(cfg, n.ProviderEndpoint, e.Offer().StandIns)
	}
	if f.May(topology.SignDossiers) && n.MediaKey != "" {
		e.Signatures = kmsseal.NewSigner(cfg, n.MediaKey)
	}
	e.Moderator = bedrock.Moderator(cfg, n.Guardrail, n.ProviderEndpoint)
	return e
}
