package fakes

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/registry"
	"github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/elevenlabs"
	"github.com/content-automation/api/testdata/providers/fal"
	"github.com/content-automation/api/testdata/providers/heygen"
	"github.com/content-automation/api/testdata/providers/polly"
	"github.com/content-automation/api/testdata/providers/replicate"
	"github.com/content-automation/api/testdata/providers/sample"
)

// Guardrail is the name of the guardrail that moderates texts.
const Guardrail = bedrock.Guardrail

// Writer puts an object into a bucket.
type Writer func(ctx context.Context, bucket, key string, content []byte) error

// Reader reads an object of a bucket.
type Reader func(ctx context.Context, bucket, key string) ([]byte, error)

// Providers serves the fakes of all generation providers, each below its name: /fal, /replicate, /elevenlabs, /heygen,
// /polly and /bedrock. Below /_control, faults are queued and the accepted submissions are listed; see the package
// control. Keys are the accepted credentials. The fakes of AWS's own services write their results to a bucket.
// Now is the clock by which works take their time.
func Providers(keys map[string]registry.Secret, write Writer, read Reader, now func() time.Time) http.Handler {
	c := control.New()
	mux := http.NewServeMux()
	mux.Handle("/_control", c)
	mux.Handle("/_control/", c)
	for name, fake := range map[string]http.Handler{
		fal.Name: only("Authorization", "Key "+keys[fal.Name].Reveal(), fal.New(c, sample.File, now, 0)),
		replicate.Name: only("Authorization", "Bearer "+keys[replicate.Name].Reveal(),
			replicate.New(c, sample.File, now, 0)),
		elevenlabs.Name: elevenlabs.New(elevenlabs.Config{Control: c, Media: sample.Files,
			Key: keys[elevenlabs.Name].Reveal()}),
		heygen.Name: heygen.New(heygen.Config{Control: c, Media: sample.Files, Now: now,
			Key: keys[heygen.Name].Reveal()}),
		polly.Name: polly.New(polly.Config{Control: c, Media: sample.Files, Now: now, Write: write}),
		bedrock.Name: bedrock.New(bedrock.Config{Control: c, Samples: sample.File, Now: now, Write: write,
			Read: read}),
	} {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, fake))
	}
	return mux
}

// only returns the fake with a check of the credential, for a fake that accepts any. It passes
// calls without a credential to the fake.
func only(header, want string, fake http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get(header); got != "" && got != want {
			http.Error(w, `{"detail": "Invalid credential"}`, http.StatusUnauthorized)
			return
		}
		fake.ServeHTTP(w, r)
	})
}

// Credentials returns a document of credentials for the fakes of all providers, in the form of the stacks' secret.
func Credentials() (string, error) {
	of := map[string]string{}
	for _, name := range registry.CredentialProviders() {
		of[name] = "local-" + name
	}
	return registry.Document(of)
}
