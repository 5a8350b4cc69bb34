package auth

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

func TestThereAre13Scopes(t *testing.T) {
	want := strings.Fields("account:read account:manage factories:read factories:write content:read content:write " +
		"content:publish studio:use products:read products:write social:manage architect:use webhooks:manage")
	var got []string
	for i, s := range AllScopes() {
		got = append(got, string(s))
		if !s.Known() || Scopes[i].Permits == "" {
			t.Errorf("%s is unknown or unexplained", s)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, s := range []Scope{"", "content", "content:*", "Content:read", "content:read ", "*"} {
		if s.Known() {
			t.Errorf("%q is known", s)
		}
	}
}

func TestAPrincipalTravels(t *testing.T) {
	for name, want := range map[string]Principal{
		"permitted": {
			Owner: tenant.Of("acc_1", tenant.Live), Actor: Key("key_1"), Scopes: []Scope{ContentRead, StudioUse},
			Rate: Rate{Limit: 600, Window: 60, Remaining: 599, Reset: 17},
		},
		"refused": {
			Owner: tenant.Of("acc_1", tenant.Test), Actor: Key("key_1"), Scopes: AllScopes(),
			Rate: Rate{Limit: 60, Window: 60, Reset: 60},
			Denial: &Denial{Code: errs.RateLimited, Message: `Wait, "please" – é.`,
				Rate: &errs.RateContext{Limit: 60, WindowSeconds: 60}},
		},
		"not looked up": *Unidentified(errs.ProviderUnavailable, MessageUnavailable),
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
		got, err := Decode(values)
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
		if p, err := Decode(map[string]any{contextKey: s}); err == nil {
			t.Errorf("%v is read as %+v", s, p)
		}
	}
	if p, err := Decode(nil); err == nil {
		t.Errorf("nothing is read as %+v", p)
	}
}

func TestNobodyGivesWhatTheyLack(t *testing.T) {
	p := &Principal{Scopes: []Scope{ContentRead, AccountManage}}
	if !p.Has(ContentRead) || p.Has(ContentWrite) {
		t.Error("Has is wrong")
	}
	if err := p.RequireScopes([]Scope{ContentRead}, "/scopes"); err != nil {
		t.Error(err)
	}
	want := []Scope{StudioUse, ContentRead, ContentWrite}
	var e *errs.Error
	want = append([]Scope{ContentRead}, want...)
	for param, told := range map[string]string{"/scopes": "/scopes/1", "": ""} {
		if err := p.RequireScopes(want, param); !errors.As(err, &e) || e.Code != errs.ScopeEscalation ||
			e.Param != told || !strings.Contains(e.Message, "studio:use, content:write") {
			t.Errorf("%q: %q %v", param, e.Param, err)
		}
	}
	if !slices.Equal(want, []Scope{ContentRead, StudioUse, ContentRead, ContentWrite}) {
		t.Errorf("the caller's list was changed to %v", want)
	}
}

func TestAPrincipalInItsContext(t *testing.T) {
	p := &Principal{Owner: tenant.Of("acc_1", "")}
	if got := FromContext(NewContext(t.Context(), p)); got != p {
		t.Errorf("got %+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a context without a principal gives one")
		}
	}()
	FromContext(context.Background())
}

func TestMessageScopeNamesTheScope(t *testing.T) {
	if m := MessageScope(StudioUse); !strings.Contains(m, "studio:use") {
		t.Error(m)
	}
}

func TestAPersonHasNoKey(t *testing.T) {
	p := Principal{Owner: tenant.Of("acc_1", tenant.Live), Actor: Actor{Person, "user_1"}, Scopes: AllScopes()}
	values, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(values)
	if err != nil || read.Actor != p.Actor || read.KeyID() != "" {
		t.Errorf("%+v, %v", read, err)
	}
}
