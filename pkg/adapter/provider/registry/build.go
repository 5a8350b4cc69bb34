package registry

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/elevenlabs"
	"github.com/content-automation/api/pkg/adapter/provider/fal"
	"github.com/content-automation/api/pkg/adapter/provider/heygen"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/adapter/provider/replicate"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media/objects"
)

// builders make the providers, by the names that the catalog has for them.
var builders = map[string]func(*Registry) provider.Provider{
	bedrock.Name: func(r *Registry) provider.Provider {
		return bedrock.New(bedrock.Config{
			AWS: r.cfg.AWS, Endpoint: r.at(bedrock.Name), Bucket: r.cfg.Bucket,
			Objects:    objects.New(r.cfg.AWS, r.cfg.Bucket),
			Everywhere: r.cfg.Configured.Has(provider.BedrockEverywhere), StandIns: r.cfg.StandIns,
		})
	},
	elevenlabs.Name: func(r *Registry) provider.Provider { return elevenlabs.New(r.wire(elevenlabs.Name)) },
	fal.Name:        func(r *Registry) provider.Provider { return fal.New(r.wire(fal.Name)) },
	heygen.Name:     func(r *Registry) provider.Provider { return heygen.New(r.wire(heygen.Name)) },
	polly.Name: func(r *Registry) provider.Provider {
		return polly.New(polly.Config{
			AWS: r.cfg.AWS, Endpoint: r.at(polly.Name), Bucket: r.cfg.Bucket,
			Objects: objects.New(r.cfg.AWS, r.cfg.Bucket),
		})
	},
	replicate.Name: func(r *Registry) provider.Provider { return replicate.New(r.wire(replicate.Name)) },
}

// wire returns the configuration of a provider with a credential.
func (r *Registry) wire(name string) wire.Config {
	return wire.Config{
		HTTP: r.client(), BaseURL: r.at(name), Key: r.secrets.Key(name), Now: r.cfg.Now,
		// The fakes' files are on this machine. Those of providers never are.
		Files: wire.NewFiles(safehttp.Options{AllowLoopback: r.cfg.Endpoint != ""}),
	}
}

// client returns the HTTP client of a provider with a credential. If the provider refuses the credential, the secret is
// read again before the next call.
func (r *Registry) client() *http.Client {
	return &http.Client{Transport: forgetful{r}}
}

const (
	// keepIdle is the time for which an idle connection is kept. A function may be frozen at any time, and an older
	// connection is more likely to be dead when it continues.
	keepIdle = 30 * time.Second
	// pingAfter detects HTTP/2 connections that have died.
	pingAfter = 5 * time.Second
)

// newTransport makes the transport of calls to providers.
func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = keepIdle
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	return t
}

// forgetful is a transport that reports refused credentials.
type forgetful struct{ r *Registry }

func (t forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.r.cfg.HTTP.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized {
		t.r.secrets.Forget(req.Context())
	}
	return resp, err
}

// at returns the URL of a provider's fake, or an empty one if there is none.
func (r *Registry) at(name string) string {
	if r.cfg.Endpoint == "" {
		return ""
	}
	return r.cfg.Endpoint + "/" + name
}
