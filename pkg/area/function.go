// Package area has what the areas are made from. Env has what an area is opened with, and Mount registers its
// operations.
package area

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
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
