package auth_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

func TestThereAre13Scopes(t *testing.T) {
	want := strings.Fields("account:read account:manage factories:read factories:write content:read content:write " +
		"content:publish studio:use products:read products:write social:manage architect:use webhooks:manage")
	var got []string
	for i, s := range auth.AllScopes() {
		got = append(got, string(s))
		if !s.Known() || auth.Scopes[i].Permits == "" {
			t.Errorf("%s is unknown or unexplained", s)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, s := range []auth.Scope{"", "content", "content:*", "Content:read", "content:read ", "*"} {
		if s.Known() {
			t.Errorf("%q is known", s)
		}
	}
}

func TestAPrincipalTravels(t *testing.T) {
	for name, want := range map[string]auth.Principal{
		"permitted": {
			Owner: tenant.Of("acc_1", tenant.Live), Actor: auth.Key("key_1"), Scopes: []auth.Scope{auth.ContentRead,
				auth.StudioUse},
			Rate: auth.Rate{Limit: 600, Window: 60, Remaining: 599, Reset: 17},
		},
		"refused": {
			Owner: tenant.Of("acc_1", tenant.Test), Actor: auth.Key("key_1"), Scopes: auth.AllScopes(),
			Rate: auth.Rate{Limit: 60, Window: 60, Reset: 60},
			Denial: &auth.Denial{Code: errs.RateLimited, Message: `Wait, "please" – é.`,
				Rate: &errs.RateContext{Limit: 60, WindowSeconds: 60}},
		},
		"not looked up": *auth.Unidentified(errs.ProviderUnavailable, auth.MessageUnavailable),
	} {
		values, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for member, v := range values {
			if _, ok := v.(string); !ok {
				t.Errorf("%s: %s is a %T: the gateway takes flat strings only", name, member, v)
			}
		}
		got, err := auth.Decode(values)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestAnIncompletePrincipalIsNone(t *testing.T) {
	for _, s := range []any{
		nil, 7, "", "null", "{", "[]", "{}", `"acc_1"`,
		`{"key":"key_1","mode":"test"}`, `{"account":"acc_1","mode":"test"}`, `{"account":"acc_1","key":"key_1"}`,
		`{"account":"acc_1","key":"key_1","mode":"demo"}`,
		`{"account":"acc_1","key":"key_1","mode":"test","scopes":"all"}`,
		`{"refusal":null}`, `{"refusal":{}}`, `{"refusal":{"message":"no"}}`,
	} {
		if p, err := auth.Decode(map[string]any{"principal": s}); err == nil {
			t.Errorf("%v is read as %+v", s, p)
		}
	}
	if p, err := auth.Decode(nil); err == nil {
		t.Errorf("nothing is read as %+v", p)
	}
}

func TestNobodyGivesWhatTheyLack(t *testing.T) {
	p := &auth.Principal{Scopes: []auth.Scope{auth.ContentRead, auth.AccountManage}}
	if !p.Has(auth.ContentRead) || p.Has(auth.ContentWrite) {
		t.Error("Has is wrong")
	}
	if err := p.RequireScopes([]auth.Scope{auth.ContentRead}, "/scopes"); err != nil {
		t.Error(err)
	}
	want := []auth.Scope{auth.StudioUse, auth.ContentRead, auth.ContentWrite}
	var e *errs.Error
	want = append([]auth.Scope{auth.ContentRead}, want...)
	for param, told := range map[string]string{"/scopes": "/scopes/1", "": ""} {
		if err := p.RequireScopes(want, param); !errors.As(err, &e) || e.Code != errs.ScopeEscalation ||
			e.Param != told || !strings.Contains(e.Message, "studio:use, content:write") {
			t.Errorf("%q: %q %v", param, e.Param, err)
		}
	}
	if !slices.Equal(want, []auth.Scope{auth.ContentRead, auth.StudioUse, auth.ContentRead, auth.ContentWrite}) {
		t.Errorf("the caller's list was changed to %v", want)
	}
}

func TestAPrincipalInItsContext(t *testing.T) {
	p := &auth.Principal{Owner: tenant.Of("acc_1", "")}
	if got := auth.FromContext(auth.NewContext(t.Context(), p)); got != p {
		t.Errorf("got %+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a context without a principal gives one")
		}
	}()
	auth.FromContext(context.Background())
}

func TestMessageScopeNamesTheScope(t *testing.T) {
	if m := auth.MessageScope(auth.StudioUse); !strings.Contains(m, "studio:use") {
		t.Error(m)
	}
}

func TestAPersonHasNoKey(t *testing.T) {
	p := auth.Principal{Owner: tenant.Of("acc_1", tenant.Live), Actor: auth.Actor{auth.Person, "user_1"}, Scopes: auth.AllScopes()}
	values, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := auth.Decode(values)
	if err != nil || read.Actor != p.Actor || read.KeyID() != "" {
		t.Errorf("%+v, %v", read, err)
	}
}
