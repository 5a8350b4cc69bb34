package standalone

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/store/memtable"
)

// The names of the secrets.
const (
	SealSecret     = "seal"
	ProviderSecret = "providers"
	PlatformSecret = "platforms"
	CanarySecret   = "canary"
	// keySecret wraps the data keys that seal customers' secrets. It has no counterpart in AWS Secrets Manager, because
	// AWS KMS keeps it.
	keySecret = "key"
	// accessSecret signs the calls of the operator's command and the URLs of files.
	accessSecret = "access"
)

// secrets are the secrets of the system, by name.
type secrets struct {
	journal journal
	mu      sync.Mutex
	all     map[string]string
}

const secretsBucket = "secrets"

// openSecrets reads the secrets of the journal, and makes those of the service itself if they are not there. The given
// values, those of fakes, are in memory only: the credentials that the operator has put outlive a run with fakes.
func openSecrets(j journal, given map[string]string) (*secrets, error) {
	s := &secrets{journal: j, all: map[string]string{}}
	if err := j.each(secretsBucket, func(name string, value []byte) error {
		s.all[name] = string(value)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, name := range []string{SealSecret, keySecret, accessSecret} {
		if s.all[name] == "" {
			s.put(name, rand.Text()+rand.Text())
		}
	}
	maps.Copy(s.all, given)
	return s, nil
}

func (s *secrets) put(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[name] = value
	s.journal.write(entry{secretsBucket, name, []byte(value)})
}

func (s *secrets) get(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.all[name]
	return value, ok
}

// read returns a function that reads a secret.
func (s *secrets) read(name string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		value, ok := s.get(name)
		if !ok {
			return "", fmt.Errorf("standalone: there is no secret %q", name)
		}
		return value, nil
	}
}

// operator serves the calls of AWS that the operator's command makes: those of the tables, of the secrets, and of the
// buckets.
type operator struct {
	engine  *memtable.Engine
	secrets *secrets
	buckets *buckets
}

// ServeHTTP implements http.Handler.
func (o *operator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if service == "" {
		o.buckets.ServeHTTP(w, r)
		return
	}
	switch {
	case !o.buckets.access.signed(r):
		refuse(w, http.StatusForbidden, "UnrecognizedClientException", "The access key is not that of this service.")
	case call == "CreateTable" || call == "DeleteTable":
		refuse(w, http.StatusBadRequest, "AccessDeniedException", "The tables of this service are always there.")
	case strings.HasPrefix(service, "DynamoDB"):
		o.table(w, r)
	case service == "secretsmanager":
		o.secret(w, r, call)
	default:
		refuse(w, http.StatusBadRequest, "UnknownOperationException", "The service in one process has no "+service+
			": use the deployed template on the local AWS (make stack).")
	}
}

func (o *operator) table(w http.ResponseWriter, r *http.Request) {
	resp, err := o.engine.Do(r)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

func (o *operator) secret(w http.ResponseWriter, r *http.Request, call string) {
	var in struct{ SecretId, SecretString string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	value, known := o.secrets.get(in.SecretId)
	switch {
	case !known:
		refuse(w, http.StatusBadRequest, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
		return
	case call == "PutSecretValue":
		o.secrets.put(in.SecretId, in.SecretString)
		value = ""
	case call != "GetSecretValue":
		refuse(w, http.StatusBadRequest, "UnknownOperationException", "There is no operation "+call+" here.")
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	out := map[string]string{"ARN": in.SecretId, "Name": in.SecretId}
	if value != "" {
		out["SecretString"] = value
	}
	_, _ = w.Write(encoded(out))
}

// refuse answers with an error of AWS's JSON protocols.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_, _ = w.Write(encoded(map[string]string{"__type": code, "message": message}))
}

// Keep keeps a value with the secrets of the service, under a name that no secret has.
func (s *Service) Keep(name, value string) { s.secrets.put("kept/"+name, value) }

// Kept returns a value that Keep has kept, or an empty text.
func (s *Service) Kept(name string) string {
	value, _ := s.secrets.get("kept/" + name)
	return value
}
