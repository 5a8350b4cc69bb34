package stack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/infra/app/stack"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// template is a synthesised stack.
type template struct {
	text         string
	Resources    map[string]resource
	Outputs      map[string]any
	Protected    bool     `json:"-"` // against deletion; the template itself does not say so
	Dependencies []string `json:"-"` // the stacks that it is deployed after
}

type resource struct {
	Type                string
	Properties          properties
	DependsOn           any
	DeletionPolicy      string
	Condition           string
	UpdateReplacePolicy string
	UpdatePolicy        properties
}

type properties map[string]any

// at follows a path of names. It returns nil if the path ends early.
func (p properties) at(path ...string) any {
	var value any = map[string]any(p)
	for _, name := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[name]
	}
	return value
}

// stacks are the templates of a customer in a region by their stack names.
type stacks map[string]template

// of returns the resources of a type in all stacks, by stack and logical id.
func (s stacks) of(kind string) map[string]resource {
	found := map[string]resource{}
	for name, t := range s {
		for id, r := range t.Resources {
			if r.Type == kind {
				found[name+"/"+id] = r
			}
		}
	}
	return found
}

// The deployments of the tests: two customers in two regions, a customer with a domain for its
// API, a dedicated customer with a public and with a private API, the local system with fakes of
// providers, and a small customer: quiet, released at once, with three other stacks in its account.
// The dedicated customer also has the stack in its replica's region, and all stacks there after the
// loss of its own region.
var acme, globex, initech, hooli, standby, failover, private, local, small stacks

func TestMain(m *testing.M) {
	code := func() int {
		defer stack.CloseKernel()
		dir, err := os.MkdirTemp("", "stacks")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		acme = synthesise(dir, map[string]any{"customer": "acme", "region": "eu-central-1"})
		globex = brief(dir, map[string]any{"customer": "globex", "region": "us-east-1", "version": "1f2e3d4c5b6a"})
		initech = brief(dir, map[string]any{"customer": "initech", "offered": `["con_okta"]`,
			"customers": map[string]any{"initech": map[string]any{
				"account": "777788889999", "region": "eu-west-1", "mailSender": "no-reply@initech.example",
				"signInFirewall":      true,
				"permissionsBoundary": "arn:aws:iam::777788889999:policy/Bound",
				"domains": map[string]any{
					"eu-west-1": map[string]any{"name": "api.initech.example",
						"certificateArn": "arn:aws:acm:eu-west-1:111122223333:certificate/x"},
				},
			}}})
		both := synthesise(filepath.Join(dir, "public"),
			map[string]any{"customer": "hooli", "found": `{"secretsKey": "` + secretsKey + `"}`})
		standby = stacks{standbyName + "data": both[standbyName+"data"]}
		hooli = both
		delete(hooli, standbyName+"data")
		failover = brief(filepath.Join(dir, "failover"),
			map[string]any{"customer": "hooli", "region": "eu-central-1", "found": found})
		private = brief(filepath.Join(dir, "private"),
			map[string]any{"customer": "hooli", "customers": privately("hooli")})
		delete(private, standbyName+"data")
		local = brief(dir, map[string]any{"customer": "local", "providerEndpoint": "http://127.0.0.1:9000"})
		entry := maps.Clone(cdkContext()["customers"].(map[string]any)["acme"].(map[string]any))
		entry["quiet"], entry["pageEmail"], entry["canaryMinutes"] = true, "pager@acme.example", 0
		entry["accountStacks"], entry["warmThroughput"] = 4, map[string]any{"reads": 30_000, "writes": 10_000}
		small = brief(filepath.Join(dir, "small"),
			map[string]any{"customer": "acme", "customers": map[string]any{"acme": entry}})
		return m.Run()
	}()
	os.Exit(code)
}

// assemble makes the stacks with the context of cdk.json and the given values.
func assemble(dir string, values map[string]any, routes []httpapi.Route) (awscdk.App, error) {
	assets := filepath.Join(dir, "build")
	for _, program := range topology.Programs() {
		folder := filepath.Join(assets, program)
		must(os.MkdirAll(folder, 0o755))
		must(os.WriteFile(filepath.Join(folder, "bootstrap"), []byte(program), 0o755))
	}
	for _, arch := range []string{"arm64", "x86_64"} {
		programs := filepath.Join(dir, "layer", arch, "bin")
		must(os.MkdirAll(programs, 0o755))
		must(os.WriteFile(filepath.Join(programs, "ffmpeg"), []byte(arch), 0o755))
		library := filepath.Join(dir, "layer", arch, "lib")
		must(os.MkdirAll(library, 0o755))
		must(os.WriteFile(filepath.Join(library, "libc2pa_c.so"), []byte(arch), 0o755))
	}
	context := cdkContext()
	maps.Copy(context, values)
	context["assets"] = assets
	out := filepath.Join(dir, fmt.Sprint(values["customer"]))
	app := awscdk.NewApp(&awscdk.AppProps{Context: &context, Outdir: jsii.String(out),
		AnalyticsReporting: jsii.Bool(false)})
	settings, err := customer.Read(func(key string) any { return app.Node().TryGetContext(jsii.String(key)) })
	must(err)
	return app, stack.Add(app, settings, routes)
}

// synthesise makes the templates of a deployment.
func synthesise(dir string, values map[string]any) stacks {
	return templates(dir, values, api.Routes())
}

// brief makes the templates of a deployment whose gateway has one path of each function, for tests of what no further
// path changes. It takes two thirds of the time.
func brief(dir string, values map[string]any) stacks {
	seen := map[string]bool{}
	return templates(dir, values, slices.DeleteFunc(api.Routes(), func(r httpapi.Route) bool {
		twice := seen[r.Function]
		seen[r.Function] = true
		return twice
	}))
}

func templates(dir string, values map[string]any, routes []httpapi.Route) stacks {
	app, err := assemble(dir, values, routes)
	must(err)
	app.Synth(nil)
	out := *app.Outdir()
	files, err := filepath.Glob(filepath.Join(out, "*.template.json"))
	must(err)
	result := stacks{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(err)
		t := template{text: string(data)}
		must(json.Unmarshal(data, &t))
		result[strings.TrimSuffix(filepath.Base(file), ".template.json")] = t
	}
	protect(result, out)
	return result
}

// protect marks the stacks that the assembly protects against deletion.
func protect(all stacks, out string) {
	data, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	must(err)
	var manifest struct {
		Artifacts map[string]struct {
			Properties   struct{ TerminationProtection bool }
			Dependencies []string
		}
	}
	must(json.Unmarshal(data, &manifest))
	for name, t := range all {
		of := manifest.Artifacts[name]
		t.Protected, t.Dependencies = of.Properties.TerminationProtection, of.Dependencies
		all[name] = t
	}
}

// privately returns the customers of cdk.json, one of them with a private API instead of its
// domains.
func privately(name string) any {
	customers := cdkContext()["customers"].(map[string]any)
	entry := customers[name].(map[string]any)
	delete(entry, "domains")
	entry["privateEndpoints"] = []string{"vpce-0a1b2c3d4e5f67890"}
	return customers
}

func cdkContext() map[string]any {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "cdk.json"))
	must(err)
	var config struct{ Context map[string]any }
	must(json.Unmarshal(data, &config))
	return config.Context
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
