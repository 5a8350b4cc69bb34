package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/testdata/fakes"
)

// cloud has the part of AWS that the adapters read: one bucket.
type cloud struct {
	mu      sync.Mutex
	objects map[string][]byte
}

// Open implements provider.Objects.
func (c *cloud) Open(_ context.Context, key string) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	content, ok := c.objects["media-bucket/"+key]
	if !ok {
		return nil, errs.New(errs.NotFound, "The file does not exist.")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (c *cloud) write(_ context.Context, bucket, key string, content []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[bucket+"/"+key] = content
	return nil
}

// world serves all fakes, and returns the registry of a stack that uses them. The stack's secret
// has the given keys.
func world(t *testing.T, held map[string]string) (*registry.Registry, string) {
	t.Helper()
	accepted := map[string]string{}
	for _, name := range registry.CredentialProviders() {
		accepted[name] = "key of " + name
	}
	document := map[string]map[string]string{}
	for name, key := range held {
		document[name] = map[string]string{"key": key}
	}
	if key, ok := held["replicate"]; ok {
		document["replicate"] = map[string]string{"token": key}
	}
	secret, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	c := &cloud{objects: map[string][]byte{}}
	fakes := httptest.NewServer(fakes.Providers(accepted, c.write, nil, time.Now))
	t.Cleanup(fakes.Close)
	return registry.New(registry.Config{
		Configured: provider.ParseConfigured(strings.Join(catalog.Providers(), ",")),
		AWS: aws.Config{
			Region: "us-west-2",
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret"}, nil
			}),
		},
		Secret: func(context.Context) (string, error) { return string(secret), nil },
		Bucket: "media-bucket", Objects: c, Endpoint: fakes.URL, Now: time.Now,
	}), fakes.URL
}

// The documents that the fakes accept are secrets that the service takes, for each provider and each platform.
func TestTheDocumentsOfTheFakes(t *testing.T) {
	credentials, err := fakes.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	held, err := registry.ParseCredentials(credentials)
	if err != nil || registry.CheckCredentials(credentials) != nil || len(held) != len(registry.CredentialProviders()) {
		t.Errorf("%s: %v", credentials, err)
	}
	keys, err := fakes.Keys(credentials)
	for name, key := range held {
		if err != nil || key.Reveal() != keys[name] {
			t.Errorf("%s: %v", name, err)
		}
	}
	apps, err := fakes.Apps()
	if err != nil || social.CheckApps(apps) != nil {
		t.Errorf("%s: %v, %v", apps, err, social.CheckApps(apps))
	}
	if all, err := social.ParseApps(apps); err != nil || len(all) != len(social.AppPlatforms()) {
		t.Errorf("%s: %v", apps, err)
	}
}

func keysOf(prefix string) map[string]string {
	keys := map[string]string{}
	for _, name := range registry.CredentialProviders() {
		keys[name] = prefix + name
	}
	return keys
}

// fakesRequest returns a request that a model of the catalog can fulfil.
func fakesRequest(m catalog.Model) provider.Request {
	req := provider.Request{Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions,
		Prompt: "A bay at sunrise", ClientToken: m.ID, Language: "en"}
	if m.Kind == provider.KindAvatar {
		req.Prompt += "\nSeen from above" // by the second speaker, if there are two
	}
	if len(m.Capabilities.Seconds) > 0 {
		req.Seconds = m.Capabilities.Seconds[0]
	} else if m.Kind == provider.KindMusic {
		req.Seconds = 10
	}
	for _, input := range m.Capabilities.Requires {
		switch input {
		case catalog.InputImage:
			req.ImageURL = "https://media.example/a.png"
		case catalog.InputAudio:
			req.AudioURL = "https://media.example/a.mp3"
		case catalog.InputVideo:
			req.VideoURL = "https://media.example/a.mp4"
		case catalog.InputLyrics:
			req.Lyrics = "La la la, over the bay"
		}
	}
	return req
}

// generate follows a request to its end.
func generate(t *testing.T, p provider.Provider, req provider.Request) (provider.Result, error) {
	t.Helper()
	submission, err := p.Submit(t.Context(), req)
	if err != nil {
		return provider.Result{}, err
	}
	if submission.Result != nil {
		return *submission.Result, nil
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := p.Poll(t.Context(), submission.Handle)
		if err != nil {
			return provider.Result{}, err
		}
		if status.State.Final() {
			return p.Fetch(t.Context(), submission.Handle)
		}
		<-tick.C
	}
}

// For each model that live keys can use, its fake makes a result through the adapter of the
// functions.
func TestEachModelOfTheCatalogIsMade(t *testing.T) {
	providers, _ := world(t, keysOf("key of "))
	for _, m := range catalog.Models(catalog.Filter{}) {
		if m.State != catalog.Available {
			continue
		}
		t.Run(m.ID, func(t *testing.T) {
			t.Parallel()
			p, err := providers.For(m.Provider, "live")
			if err != nil {
				t.Fatal(err)
			}
			result, err := generate(t, p, fakesRequest(m))
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind == provider.KindText {
				if result.Text == nil || result.Text.Title == "" {
					t.Errorf("wrote %+v", result.Text)
				}
				return
			}
			if len(result.Media) != 1 {
				t.Fatalf("made %d files", len(result.Media))
			}
			body, err := result.Media[0].Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(body)
			if err != nil {
				t.Fatal(err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
			if _, err := probe.Bytes(content); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	for prefix, code := range map[string]string{"wrong key of ": "provider_access", "": "provider_not_configured"} {
		held := keysOf(prefix)
		if prefix == "" {
			held = map[string]string{"fal": "the only one"}
		}
		providers, _ := world(t, held)
		for name := range keysOf("") {
			if prefix == "" && name == "fal" {
				continue
			}
			model := catalog.Models(catalog.Filter{Provider: name})[0]
			p, err := providers.For(name, "live")
			if err != nil {
				t.Fatal(err)
			}
			_, err = generate(t, p, fakesRequest(model))
			var e *provider.Error
			if !errors.As(err, &e) || e.Kind != provider.Quota || e.Code != code {
				t.Errorf("%s with the key %q: %v, want %s", name, held[name], err, code)
			}
		}
	}
}

func TestOneControlForAll(t *testing.T) {
	providers, address := world(t, keysOf("key of "))
	order := `{"provider": "elevenlabs", "operation": "submit", "faults": [{"kind": "rate_limited", "seconds": 7}]}`
	resp, err := http.Post(address+"/_control", "application/json", strings.NewReader(order))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	p, err := providers.For("elevenlabs", "live")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := catalog.Find("eleven-flash-2.5")
	var e *provider.Error
	if _, err := generate(t, p, fakesRequest(m)); !errors.As(err, &e) || e.RetryAfter != 7*time.Second {
		t.Errorf("after %d %s: %v", resp.StatusCode, order, err)
	}
	if _, err := generate(t, p, fakesRequest(m)); err != nil {
		t.Error(err)
	}
	resp, err = http.Get(address + "/_control/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var log struct{ Accepted []struct{ Provider string } }
	if err := json.NewDecoder(resp.Body).Decode(&log); err != nil || len(log.Accepted) != 1 ||
		log.Accepted[0].Provider != "elevenlabs" {
		t.Errorf("the log has %+v, %v", log, err)
	}
}
