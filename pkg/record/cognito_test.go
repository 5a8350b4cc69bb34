package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/connection/cognito"
)

type object = map[string]any

// service is Cognito with one pool and one client.
type service struct {
	t         *testing.T
	client    object
	providers map[string]object
	calls     []string
	refuse    string // exception of the next call
	busy      int    // the number of calls that are refused as too many
	lose      bool   // the answer of the next update of the client
	people    []object
	deleted   []string
	// meanwhile is called once while an update of the client is on its way.
	meanwhile func()
}

// ServeHTTP answers one call of AWS's JSON protocol.
func (s *service) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	_, name, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	s.calls = append(s.calls, name)
	var in object
	b, err := io.ReadAll(req.Body)
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	if err != nil || in["UserPoolId"] != "pool" {
		s.t.Errorf("%s was sent %s, %v", name, b, err)
	}
	provider := fmt.Sprint(in["ProviderName"])
	out, refused := object{}, s.refuse
	s.refuse = ""
	if s.busy > 0 {
		s.busy--
		name, refused = "", "TooManyRequestsException"
	}
	switch name {
	case "CreateIdentityProvider":
		if s.providers[provider] != nil {
			refused = "DuplicateProviderException"
		}
		s.providers[provider] = in
		out["IdentityProvider"] = in
	case "UpdateIdentityProvider":
		s.providers[provider] = in
		out["IdentityProvider"] = in
	case "DeleteIdentityProvider":
		if s.providers[provider] == nil {
			refused = "ResourceNotFoundException"
		}
		delete(s.providers, provider)
	case "ListIdentityProviders":
		// A page has one provider.
		names := slices.Sorted(maps.Keys(s.providers))
		at := slices.Index(names, fmt.Sprint(in["NextToken"]))
		if at++; at < len(names) {
			out["Providers"] = []any{object{"ProviderName": names[at]}}
			if at+1 < len(names) {
				out["NextToken"] = names[at]
			}
		}
	case "ListUsers":
		// A page has one person.
		found := []object{}
		for _, u := range s.people {
			if in["Filter"] == `email = "`+fmt.Sprint(u["email"])+`"` {
				found = append(found, object{"Username": u["Username"]})
			}
		}
		if at, _ := strconv.Atoi(fmt.Sprint(in["PaginationToken"])); at < len(found) {
			out["Users"] = []any{found[at]}
			if at+1 < len(found) {
				out["PaginationToken"] = strconv.Itoa(at + 1)
			}
		}
	case "AdminDeleteUser":
		s.deleted = append(s.deleted, fmt.Sprint(in["Username"]))
	case "ListUserPoolClients":
		out["UserPoolClients"] = []any{object{"ClientId": "other", "ClientName": "other"},
			object{"ClientId": "app", "ClientName": "account-area"}}
	case "DescribeUserPoolClient":
		out["UserPoolClient"] = s.client
	case "UpdateUserPoolClient":
		if f := s.meanwhile; f != nil {
			s.meanwhile = nil
			f()
		}
		s.client = in
		if s.lose {
			s.lose = false
			panic(http.ErrAbortHandler)
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if refused != "" {
		w.WriteHeader(http.StatusBadRequest)
		out = object{"__type": refused, "message": refused}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func start(t *testing.T) (*service, *cognito.Pool) {
	s := &service{t: t, providers: map[string]object{}, client: object{
		"UserPoolId": "pool", "ClientId": "app", "ClientName": "account-area", "AllowedOAuthFlows": []any{"code"},
		"AllowedOAuthFlowsUserPoolClient": true, "AllowedOAuthScopes": []any{"openid", "email", "profile"},
		"CallbackURLs": []any{"https://api.example.com/auth/callback"},
		"LogoutURLs":   []any{"https://api.example.com/auth/signed-out"}, "SupportedIdentityProviders": []any{"COGNITO"},
		"AccessTokenValidity": 15.0, "IdTokenValidity": 15.0, "RefreshTokenValidity": 720.0,
		"TokenValidityUnits":    object{"AccessToken": "minutes", "IdToken": "minutes", "RefreshToken": "minutes"},
		"EnableTokenRevocation": true, "PreventUserExistenceErrors": "ENABLED",
	}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, cognito.New(aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, "pool", "app")
}

var okta = connection.Provider{Kind: connection.OIDC, Issuer: "https://idp.example", ClientID: "a", ClientSecret: "b"}

// A person of a provider is a second one of the pool, with the same address.
func TestPeopleAreForgotten(t *testing.T) {
	s, p := start(t)
	s.people = []object{{"Username": "1", "email": "ada@example.com"}, {"Username": "okta_2", "email": "ada@example.com"},
		{"Username": "3", "email": "bob@example.com"}}
	if n, err := p.Forget(t.Context(), "ada@example.com"); err != nil || n != 2 {
		t.Errorf("%d, %v", n, err)
	}
	if !slices.Equal(s.deleted, []string{"1", "okta_2"}) {
		t.Errorf("deleted %v", s.deleted)
	}
	if n, err := p.Forget(t.Context(), "nobody@example.com"); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	s.refuse = "InternalErrorException"
	if _, err := p.Forget(t.Context(), "bob@example.com"); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("while Cognito fails: %v", err)
	}
}

func TestAProviderIsOffered(t *testing.T) {
	s, p := start(t)
	before := s.client
	for range 2 { // also again, after a lost answer
		if err := p.SetProvider(t.Context(), "okta", okta); err != nil {
			t.Fatal(err)
		}
		if err := p.OfferAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	details, _ := s.providers["okta"]["ProviderDetails"].(object)
	if details["oidc_issuer"] != "https://idp.example" || details["client_secret"] != "b" {
		t.Errorf("%v", s.providers)
	}
	// An update replaces all settings of the client: the others must stay.
	want := object{}
	for name, value := range before {
		want[name] = value
	}
	want["SupportedIdentityProviders"] = []any{"COGNITO", "okta"}
	if !reflect.DeepEqual(s.client, want) {
		t.Errorf("the client is\n%v, want\n%v", s.client, want)
	}
	asks := []string{"ListIdentityProviders", "DescribeUserPoolClient"}
	if want := slices.Concat([]string{"CreateIdentityProvider"}, asks, []string{"UpdateUserPoolClient"}, asks,
		[]string{"CreateIdentityProvider", "UpdateIdentityProvider"}, asks); !slices.Equal(s.calls, want) {
		t.Errorf("the calls were %v", s.calls)
	}
	for range 2 {
		if err := p.RemoveProvider(t.Context(), "okta"); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(s.client["SupportedIdentityProviders"], []any{"COGNITO"}) || len(s.providers) != 0 {
		t.Errorf("%v, %v", s.client, s.providers)
	}
}

// A deployment offers the providers beside the worker: the update of one call arrives after that of another, which it
// does not know.
func TestTwoUpdatesAtOnceLoseNoProvider(t *testing.T) {
	s, p := start(t)
	s.meanwhile = func() {
		if err := errors.Join(p.SetProvider(t.Context(), "entra", okta), p.OfferAll(t.Context())); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(p.SetProvider(t.Context(), "okta", okta), p.OfferAll(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := s.client["SupportedIdentityProviders"]; !reflect.DeepEqual(got, []any{"COGNITO", "entra", "okta"}) {
		t.Errorf("people may choose %v", got)
	}
	s.meanwhile = func() {
		if err := p.RemoveProvider(t.Context(), "entra"); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(p.SetProvider(t.Context(), "google", okta), p.OfferAll(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := s.client["SupportedIdentityProviders"]; !reflect.DeepEqual(got, []any{"COGNITO", "google", "okta"}) {
		t.Errorf("after a removal people may choose %v", got)
	}
}

func TestSAML(t *testing.T) {
	s, p := start(t)
	for _, given := range []connection.Provider{{Kind: connection.SAML, MetadataURL: "https://idp.example/metadata"},
		{Kind: connection.SAML, Metadata: "<EntityDescriptor/>"}} {
		if err := p.SetProvider(t.Context(), "entra", given); err != nil {
			t.Fatal(err)
		}
		details, _ := s.providers["entra"]["ProviderDetails"].(object)
		if text := fmt.Sprint(details); given.MetadataURL != "" && details["MetadataURL"] != given.MetadataURL ||
			given.Metadata != "" && details["MetadataFile"] != given.Metadata || strings.Contains(text, "oidc") {
			t.Errorf("%s", text)
		}
	}
}

func TestRefusedSettings(t *testing.T) {
	s, p := start(t)
	for exception, want := range map[string]errs.Code{"InvalidParameterException": errs.ValidationFailed,
		"NotAuthorizedException": errs.ProviderUnavailable} {
		s.refuse = exception
		if err := p.SetProvider(t.Context(), "okta", okta); errs.CodeOf(err) != want {
			t.Errorf("%s: %v", exception, err)
		}
		s.providers = map[string]object{}
	}
}

// TestAllProvidersAreOfferedAgain has the template replace the client.
func TestAllProvidersAreOfferedAgain(t *testing.T) {
	s, p := start(t)
	for _, name := range []string{"con-1", "con-2"} {
		if err := p.SetProvider(t.Context(), name, connection.Provider{Kind: connection.OIDC,
			Issuer: "https://id.example"}); err != nil {
			t.Fatal(err)
		}
		if err := p.OfferAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.client["SupportedIdentityProviders"] = []any{"COGNITO"}
	for range 2 {
		if err := p.OfferAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(s.client["SupportedIdentityProviders"]); got != "[COGNITO con-1 con-2]" {
		t.Errorf("the client offers %s", got)
	}
	if updates := strings.Count(strings.Join(s.calls, " "), "UpdateUserPoolClient"); updates != 3 {
		t.Errorf("%d updates of the client", updates)
	}
}
