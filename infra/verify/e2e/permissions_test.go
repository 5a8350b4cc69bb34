//go:build deployed

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// many is a member of a policy that may be one value or several, sorted.
type many []string

func (m *many) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*m = many{""}
		return json.Unmarshal(data, &(*m)[0])
	}
	err := json.Unmarshal(data, (*[]string)(m))
	slices.Sort(*m)
	return err
}

// statement is a statement of a policy.
type statement struct {
	Effect           string
	Action, Resource many
	Condition        map[string]map[string]many
}

// id returns the same text for equal statements.
func (s statement) id() string {
	if s.Condition == nil {
		s.Condition = map[string]map[string]many{}
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// policies returns the statements of each function's role, by the function's name.
func policies(ctx context.Context) (map[string][]statement, error) {
	iam := func(form url.Values, into any) error {
		form.Set("Version", "2010-05-08")
		status, answer, err := sign(ctx, running.AWS(), http.MethodPost, "/", "iam", []byte(form.Encode()),
			"Content-Type", "application/x-www-form-urlencoded")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d: %s", status, answer)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", form.Get("Action"), err)
		}
		return xml.Unmarshal(answer, into)
	}
	functions := lambda.NewFromConfig(running.AWS())
	all := map[string][]statement{}
	for _, f := range topology.Functions {
		name := running.FunctionName(f.Name)
		config, err := functions.GetFunctionConfiguration(ctx,
			&lambda.GetFunctionConfigurationInput{FunctionName: &name})
		if err != nil {
			return nil, err
		}
		_, role, _ := strings.Cut(*config.Role, "/")
		var names struct {
			Names []string `xml:"ListRolePoliciesResult>PolicyNames>member"`
		}
		if err := iam(url.Values{"Action": {"ListRolePolicies"}, "RoleName": {role}}, &names); err != nil {
			return nil, err
		}
		for _, name := range names.Names {
			var policy struct {
				Document string `xml:"GetRolePolicyResult>PolicyDocument"`
			}
			if err := iam(url.Values{"Action": {"GetRolePolicy"}, "RoleName": {role}, "PolicyName": {name}},
				&policy); err != nil {
				return nil, err
			}
			document, err := url.QueryUnescape(policy.Document)
			if err != nil {
				return nil, err
			}
			var statements struct{ Statement []statement }
			if err := json.Unmarshal([]byte(document), &statements); err != nil {
				return nil, fmt.Errorf("the policy of %s: %w", f.Name, err)
			}
			all[f.Name] = append(all[f.Name], statements.Statement...)
		}
	}
	return all, nil
}

// authorization is a function's call that the local AWS authorized or refused, with the
// statements of the function's role that apply to it.
type authorization struct {
	Caller, Action, Resource string
	Statements               []statement
}

// function returns the name of the caller, if it is a function.
func (a authorization) function() string {
	for _, f := range topology.Functions {
		if strings.HasSuffix(a.Caller, "/"+running.FunctionName(f.Name)) {
			return f.Name
		}
	}
	return ""
}

// decisive returns the single statement that decides the call: without it, a permitted call
// would be refused, or a refused call permitted.
func (a authorization) decisive() (statement, bool) {
	allow := slices.DeleteFunc(slices.Clone(a.Statements), func(s statement) bool { return s.Effect != "Allow" })
	deny := slices.DeleteFunc(slices.Clone(a.Statements), func(s statement) bool { return s.Effect != "Deny" })
	switch {
	case len(deny) == 1 && len(allow) > 0:
		return deny[0], true
	case len(deny) == 0 && len(allow) == 1:
		return allow[0], true
	}
	return statement{}, false
}

// permission is an action of a statement of a function.
type permission struct{ function, statement, action string }

// authorizations returns the resource of a call that uses each permission.
func authorizations(dir string) (needs map[permission]string, err error) {
	file, err := os.ReadFile(filepath.Join(dir, system.Authorizations))
	if err != nil {
		return nil, err
	}
	needs = map[permission]string{}
	for line := range bytes.Lines(file) {
		var a authorization
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, err
		}
		if s, ok := a.decisive(); ok {
			needs[permission{a.function(), s.id(), a.Action}] = a.Resource
		}
	}
	return needs, nil
}

// whole reports whether the run includes all tests. Other runs leave out calls that need
// permissions.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return os.Getenv("SAM") == ""
}

// unneeded returns the permissions that no call of the tests uses, except those of unseen. It
// also reports if the table of permissions is stale.
func unneeded(ctx context.Context, dir string) (found []string, err error) {
	all, err := policies(ctx)
	if err != nil {
		return nil, err
	}
	needs, err := authorizations(dir)
	if err != nil {
		return nil, err
	}
	found, rows := judge(all, needs)
	fmt.Printf("permissions: %d have a call that needs them\n", len(needs))
	if len(found) > 0 {
		return found, nil
	}
	stale, err := rows.write("../../app/stack/testdata/permissions.md")
	if stale {
		found = append(found, "the table of permissions was stale, and is written anew")
	}
	return found, err
}

// judge returns the permissions that are neither used nor excused, and a table of all others.
func judge(all map[string][]statement, needs map[permission]string) (found []string, rows table) {
	rows = table{}
	named := map[int]bool{}
	for _, f := range topology.Functions {
		for _, s := range all[f.Name] {
			r := row{effect: s.Effect, actions: s.Action, on: kinds(s), condition: conditionOf(s)}
			for _, action := range s.Action {
				i := slices.IndexFunc(unseen, func(u exception) bool {
					return s.Effect == "Allow" &&
						u.covers(f.Name, action, r.on)
				})
				_, needed := needs[permission{f.Name, s.id(), action}]
				switch {
				case i >= 0:
					// Even if a call has used it this time, because not every run does.
					named[i] = true
					if !slices.Contains(r.reasons, unseen[i].reason) {
						r.reasons = append(r.reasons, unseen[i].reason)
					}
				case needed:
					r.needed = append(r.needed, action)
				default:
					found = append(found, fmt.Sprintf("%s: nothing needs %s on %s", f.Name, action, r.on))
				}
			}
			rows.add(f.Name, r)
		}
	}
	for i, u := range unseen {
		if !named[i] {
			found = append(found, fmt.Sprintf("no permission has the reason %q", u.reason))
		}
	}
	return found, rows
}

// sortedKeys returns the keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestAPermissionThatNothingNeedsIsFound adds a permission to those that functions have.
func TestAPermissionThatNothingNeedsIsFound(t *testing.T) {
	all, err := policies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	needs := map[permission]string{}
	for function, statements := range all {
		for _, s := range statements {
			for _, action := range s.Action {
				needs[permission{function, s.id(), action}] = s.Resource[0]
			}
		}
	}
	surplus := statement{Effect: "Allow", Action: many{"sqs:SendMessage"}, Resource: many{"*"}}
	all["factory"] = append(all["factory"], surplus)
	if found, _ := judge(all, needs); !slices.Contains(found, "factory: nothing needs sqs:SendMessage on everything") {
		t.Errorf("found %v", found)
	}
	deny := statement{Effect: "Deny"}
	for name, c := range map[string]struct {
		applies []statement
		want    string
	}{
		"the only one":           {[]statement{surplus}, surplus.id()},
		"one of two":             {[]statement{surplus, {Effect: "Allow", Action: many{"sqs:*"}}}, ""},
		"refused although both":  {[]statement{surplus, deny}, deny.id()},
		"refused and not needed": {[]statement{deny}, ""},
		"none":                   {nil, ""},
	} {
		if s, ok := (authorization{Statements: c.applies}).decisive(); ok != (c.want != "") || ok && s.id() != c.want {
			t.Errorf("%s: %v decides: %v", name, s, ok)
		}
	}
}
