package fakes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

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
func Providers(keys map[string]string, write Writer, read Reader, now func() time.Time) http.Handler {
	c := control.New()
	mux := http.NewServeMux()
	mux.Handle("/_control", c)
	mux.Handle("/_control/", c)
	for name, fake := range map[string]http.Handler{
		fal.Name: only("Authorization", "Key "+keys[fal.Name], fal.New(c, sample.File, now, 0)),
		replicate.Name: only("Authorization", "Bearer "+keys[replicate.Name],
			replicate.New(c, sample.File, now, 0)),
		elevenlabs.Name: elevenlabs.New(elevenlabs.Config{Control: c, Media: sample.Files,
			Key: keys[elevenlabs.Name]}),
		heygen.Name: heygen.New(heygen.Config{Control: c, Media: sample.Files, Now: now,
			Key: keys[heygen.Name]}),
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

// member has the member of the stacks' secret that holds the credential of a provider.
var member = map[string]string{fal.Name: "key", replicate.Name: "token", elevenlabs.Name: "key", heygen.Name: "key"}

// Credentials returns a document of credentials for the fakes of all providers, in the form of the stacks' secret.
func Credentials() (string, error) {
	document := map[string]map[string]string{}
	for name, of := range member {
		document[name] = map[string]string{of: "local-" + name}
	}
	value, err := json.Marshal(document)
	return string(value), err
}

// Keys returns the credentials of such a document, by provider.
func Keys(document string) (map[string]string, error) {
	var of map[string]map[string]string
	if err := json.Unmarshal([]byte(document), &of); err != nil {
		return nil, fmt.Errorf("fakes: the credentials of the providers: %w", err)
	}
	keys := map[string]string{}
	for name := range member {
		keys[name] = of[name][member[name]]
	}
	return keys, nil
}
