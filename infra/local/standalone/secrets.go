package standalone

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	provider "github.com/content-automation/api/infra/local/identity"
	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/service/console"
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

const (
	// identityPath is the prefix of the paths of the identity provider.
	identityPath = "/_identity"
	// identityClient is the id of the account area at the provider.
	identityClient = "console"
)

// The names of the secrets of the identity provider.
const (
	identityKey      = "identity-key"
	identityPassword = "identity-password"
	identityState    = "identity-providers"
	identityPool     = "local-local"
)

// signInSettings describe the service's own identity provider.
func (s *Service) signInSettings() signin.Settings {
	issuer := s.BaseURL + identityPath
	// The service itself may not reach its own name, such as in a container.
	inside := s.internal + identityPath
	return signin.Settings{Issuer: issuer, Pool: identityPool, ClientID: identityClient, KeysURL: inside + "/jwks.json",
		AuthorizeURL: issuer + "/oauth2/authorize", TokenURL: inside + "/token", LogoutURL: issuer + "/logout"}
}

// Password returns the password of all users.
func (s *Service) Password() string {
	if password := s.Kept(identityPassword); password != "" {
		return password
	}
	password := rand.Text()[:12]
	s.Keep(identityPassword, password)
	return password
}

// outside calls the providers of customers. An empty list of ports means 443, or any on this machine.
type outside struct{ *safehttp.Client }

// RoundTrip implements http.RoundTripper.
func (o outside) RoundTrip(req *http.Request) (*http.Response, error) { return o.Do(req) }

// newIdentity returns the service's own identity provider. Its key outlives restarts, as sessions do.
func (s *Service) newIdentity() *provider.Provider {
	return provider.New(provider.Options{
		Issuer: s.BaseURL + identityPath, ClientID: identityClient,
		Redirects: []string{s.BaseURL + "/auth/callback"}, Logouts: []string{s.BaseURL + "/auth/signed-out"},
		Users: provider.Users(), Password: s.Password, Key: s.signingKey, Now: s.now,
		Outside: outside{safehttp.New(safehttp.Options{AllowLoopback: true, RootCAs: s.options.ProviderRoots,
			MaxBody: 1 << 20})},
		Load: func() string { return s.Kept(identityState) }, Save: func(text string) { s.Keep(identityState, text) },
	})
}

// freshKey makes the key of the services of this process that have kept none: to make one takes a third of a second,
// and tests start a hundred services.
var freshKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func (s *Service) signingKey() (*rsa.PrivateKey, error) {
	if kept, err := base64.StdEncoding.DecodeString(s.Kept(identityKey)); err == nil && len(kept) > 0 {
		return x509.ParsePKCS1PrivateKey(kept)
	}
	key, err := freshKey()
	if err == nil {
		s.Keep(identityKey, base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key)))
	}
	return key, err
}

// newConsole returns the function of the account area. Parsing its pages is postponed to the first request.
func (s *Service) newConsole(e area.Env) function {
	documents := console.NewDocumentClient(true, s.options.ProviderRoots)
	handle := console.Lambda(func(string) (http.Handler, error) {
		return console.Open(console.Wiring{DB: e.DB, Seal: e.Seal, SignIn: s.options.SignIn, URL: s.BaseURL,
			API: cmp.Or(s.options.Inside.URL, s.internal), HTTP: s.options.Inside.HTTP, Now: s.now,
			Documents: documents,
			Audit:     s.tables.open(AuditTable, s.now), Region: s.options.Region,
			Pool: s.people, Resolver: s.options.Resolver, Mails: true})
	})
	return func(ctx context.Context, in events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		return handle(ctx, in)
	}
}

// InviteUsers makes the users of the provider people of an account.
func (s *Service) InviteUsers(ctx context.Context, account tenant.Account) error {
	return provider.Invite(ctx, s.db, account, s.now)
}

// mailPath is the page of the e-mails, which nobody sends here.
const mailPath = "/_mails"

// Mail is an e-mail that the service would have sent.
type Mail struct {
	At time.Time `json:"at"`
	people.Message
	Headers map[string]string
}

// mails keep e-mails, each in a file of its own. Its name begins with the time.
type mails struct {
	blobs blobs
	now   func() time.Time
}

var _ people.Mailer = mails{}

// Send implements people.Mailer.
func (m mails) Send(_ context.Context, sent people.Message) error {
	at := m.now().UTC()
	text, err := json.MarshalIndent(Mail{at, sent, sent.Headers()}, "", "  ")
	if err != nil {
		return err
	}
	return m.blobs.put(at.Format("20060102T150405.000000000Z")+"-"+rand.Text()[:6]+".json", bytes.NewReader(text))
}

// newestMails is the number of e-mails on the page.
const newestMails = 100

// list returns the newest e-mails by their names, newest first.
func (m mails) list() (names []string, all map[string]Mail, err error) {
	if names, err = m.blobs.list(""); err != nil {
		return nil, nil, err
	}
	slices.Reverse(names)
	names = names[:min(len(names), newestMails)]
	all = map[string]Mail{}
	for _, name := range names {
		file, _, err := m.blobs.open(name)
		if err != nil {
			return nil, nil, err
		}
		var one Mail
		err = json.NewDecoder(io.LimitReader(file, 1<<20)).Decode(&one)
		_ = file.Close()
		if err != nil {
			return nil, nil, err
		}
		all[name] = one
	}
	return names, all, nil
}

// Mails returns the newest e-mails, newest first.
func (s *Service) Mails() ([]Mail, error) {
	names, all, err := s.mails.list()
	sorted := make([]Mail, len(names))
	for i, name := range names {
		sorted[i] = all[name]
	}
	return sorted, err
}

var mailPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">
<title>E-mails</title><style>body{font:16px/1.5 system-ui;max-width:46rem;margin:2rem auto;padding:0 1rem}` +
	`article{border:1px solid #8886;border-radius:8px;padding:1rem;margin:1rem 0}pre{white-space:pre-wrap;` +
	`overflow-wrap:anywhere;font:inherit}small{opacity:.7}h2{font-size:1.1rem;margin:.25rem 0}</style>
<main><h1>E-mails</h1><p>The local service sends none. It keeps them here{{with .Dir}}, and in {{.}}{{end}}.</p>
{{range .Names}}{{with index $.All .}}<article><small>{{.At.Format "2006-01-02 15:04:05 UTC"}} · to {{.To}}</small>
<h2>{{.Subject}}</h2><pre>{{.Text}}</pre>{{end}}<a href="` + mailPath + `/{{.}}">As HTML</a></article>
{{else}}<p>There are none yet.</p>{{end}}</main></html>`))

// serveMails shows the e-mails: the list as a page, or as JSON to who accepts that, and one of them as its reader sees
// it.
func (s *Service) serveMails(w http.ResponseWriter, r *http.Request) {
	names, all, err := s.mails.list()
	if err != nil {
		slog.Error("the e-mails cannot be read", "error", err)
		http.Error(w, "The e-mails cannot be read.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if one, ok := all[strings.TrimPrefix(r.URL.Path, mailPath+"/")]; ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, one.HTML)
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		sorted := make([]Mail, len(names))
		for i, name := range names {
			sorted[i] = all[name]
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(sorted)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	dir := ""
	if f, ok := s.mails.blobs.(folder); ok {
		dir = string(f)
	}
	_ = mailPage.Execute(w, map[string]any{"Names": names, "All": all, "Dir": dir})
}
