package stack_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// docs is the folder of the documents, and permissions the table of what each function may do.
const (
	docs        = "../../../docs/"
	permissions = "testdata/permissions.md"
)

var update = flag.Bool("update", false, "write the tables of testdata/permissions.md")

// document returns the text of a document.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stores are the types of resources that keep data: their names in the documents, and where the template has the key.
var stores = map[string]struct {
	name string
	key  []string
}{
	"AWS::DynamoDB::Table":        {"tables", []string{"SSESpecification", "KMSMasterKeyId"}},
	"AWS::DynamoDB::GlobalTable":  {"tables", []string{"Replicas"}},
	"AWS::S3::Bucket":             {"media bucket", nil},
	"AWS::Logs::LogGroup":         {"logs", []string{"KmsKeyId"}},
	"AWS::SecretsManager::Secret": {"secrets of Secrets Manager", []string{"KmsKeyId"}},
	"AWS::Backup::BackupVault":    {"backup vault", []string{"EncryptionKeyArn"}},
	"AWS::SNS::Topic":             {"topic of the alarms", []string{"KmsMasterKeyId"}},
	"AWS::SQS::Queue":             {"queues", []string{"KmsMasterKeyId"}},
	"AWS::Events::EventBus":       {"event bus", []string{"KmsKeyIdentifier"}},
	"AWS::Cognito::UserPool":      {"user pool", []string{"KeyConfiguration", "KmsKeyArn"}},
}

// encrypted returns the names of what each key encrypts, by the start of its logical id.
func encrypted(s stacks) map[string][]string {
	all := map[string][]string{}
	for kind, store := range stores {
		for id, r := range s.of(kind) {
			name, key := store.name, r.Properties.at(store.key...)
			if kind == "AWS::S3::Bucket" {
				key = r.Properties.at("BucketEncryption")
				if strings.Contains(id, "/MediaLog") {
					name = "log of the media bucket"
				}
			}
			of := "AWS"
			for stackAndID := range s.of("AWS::KMS::Key") {
				_, id, _ := strings.Cut(stackAndID, "/")
				if strings.Contains(fmt.Sprint(key), id) {
					of = id[:len(id)-len("12345678")]
				}
			}
			if !slices.Contains(all[of], name) {
				all[of] = append(all[of], name)
			}
		}
	}
	for _, names := range all {
		slices.Sort(names)
	}
	return all
}

// listed returns the sorted parts of the cell of the table's row that begins with a text.
func listed(t *testing.T, text, start string, cell int) []string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n| "+start)
	if !ok {
		t.Fatalf("no row begins with %q", start)
	}
	line, _, _ := strings.Cut("| "+start+rest, "\n")
	parts := strings.Split(strings.ToLower(strings.TrimSpace(strings.Split(line, "|")[cell])), ", ")
	slices.Sort(parts)
	return parts
}

func TestTheDocumentsNameTheKeyOfAllData(t *testing.T) {
	deploying, security := document(t, docs+"deploying.md"), document(t, docs+"security.md")
	// A dedicated customer has every kind of store.
	of := encrypted(hooli)
	for key, row := range map[string]string{"Key": "`alias/<customer>-<stage>` |", "AlarmKey": "A key for the alarms |",
		"AWS": "Keys of AWS |"} {
		if got, want := listed(t, deploying, row, 2), lower(of[key]); !slices.Equal(got, want) {
			t.Errorf("docs/deploying.md: %s encrypts %v, the templates say %v", row, got, want)
		}
	}
	if got, want := listed(t, security, "Customer's key (KMS) |", 3), lower(of["Key"]); !slices.Equal(got, want) {
		t.Errorf("docs/security.md: the customer's key encrypts %v, the templates say %v", got, want)
	}
	if got, want := listed(t, security, "Keys of AWS |", 3), lower(of["AWS"]); !slices.Equal(got, want) {
		t.Errorf("docs/security.md: keys of AWS encrypt %v, the templates say %v", got, want)
	}
}

func lower(names []string) []string {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = strings.ToLower(n)
	}
	slices.Sort(names)
	return names
}

// The template of the local system, from which the end-to-end tests write the first table of testdata/permissions.md,
// has neither Cognito nor a guardrail, a network, a replica or releases. The second table has what the other
// customers' templates permit or deny beyond it.
func TestTheDocumentNamesThePermissionsOfAllCustomers(t *testing.T) {
	known := map[string]bool{}
	for _, s := range statements(local) {
		if s.function {
			known[s.key()] = true
		}
	}
	type row struct{ actions, roles, customers map[string]bool }
	rows := map[string]*row{} // by what they are about, without the action
	for name, all := range map[string]stacks{"acme": acme, "globex": globex, "initech": initech, "hooli": hooli} {
		for _, s := range statements(all) {
			if s.function && known[s.key()] {
				continue
			}
			about := strings.Join([]string{s.effect, s.on, s.condition}, "|")
			if !s.function {
				about += "|" + s.role
			}
			r := rows[about]
			if r == nil {
				r = &row{map[string]bool{}, map[string]bool{}, map[string]bool{}}
				rows[about] = r
			}
			r.actions[s.action], r.roles[s.role], r.customers[name] = true, true, true
		}
	}
	var lines []string
	for about, r := range rows {
		parts := strings.Split(about, "|")
		roles, not := strings.Join(slices.Sorted(maps.Keys(r.roles)), ", "), ""
		if len(r.roles) == len(functionRoles()) {
			roles = "all functions"
		}
		if parts[0] == "Deny" {
			not = "**not** "
		}
		lines = append(lines, fmt.Sprintf("| %s | %s`%s` | %s | %s | %s |\n", roles, not,
			strings.Join(slices.Sorted(maps.Keys(r.actions)), "`, `"), parts[1], parts[2],
			strings.Join(slices.Sorted(maps.Keys(r.customers)), ", ")))
		if parts[1] == "" {
			t.Errorf("a resource has no name in resources: %v", lines[len(lines)-1])
		}
	}
	slices.Sort(lines)
	text := document(t, permissions)
	const begin, end = "<!-- begin others -->\n", "<!-- end others -->\n"
	before, rest, _ := strings.Cut(text, begin)
	_, after, ok := strings.Cut(rest, end)
	want := before + begin + "| Roles | May | On | If | Customers |\n|---|---|---|---|---|\n" + strings.Join(lines, "") + end +
		after
	switch {
	case !ok:
		t.Fatal("testdata/permissions.md has no table of other customers")
	case *update:
		must(os.WriteFile(permissions, []byte(want), 0o644))
	case want != text:
		t.Error("testdata/permissions.md is out of date: run go test ./infra/app/stack -update -run Permissions")
	}
}

// unproven is what the first table says of a permission that no run of the end-to-end tests has seen.
const unproven = "Not seen yet: the end-to-end tests have not run on the template since it was added"

// proven is a row of the first table for one function.
type proven struct {
	function, effect string
	actions          []string
	rest             string // the cells after the actions
}

// cells returns all cells but the first, as the end-to-end tests write them.
func (p proven) cells() string {
	var short []string
	for i, a := range p.actions {
		service, verb, _ := strings.Cut(a, ":")
		if i > 0 && strings.HasPrefix(p.actions[i-1], service+":") {
			a = verb
		}
		short = append(short, "`"+a+"`")
	}
	not := ""
	if p.effect == "Deny" {
		not = "**not** "
	}
	return not + strings.Join(short, ", ") + " | " + p.rest
}

// readProven reads the rows of the first table.
func readProven(table string) (all []proven) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		functions, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
		permits, rest, _ := strings.Cut(rest, " | ")
		p := proven{effect: "Allow", rest: rest}
		if text, not := strings.CutPrefix(permits, "**not** "); not {
			p.effect, permits = "Deny", text
		}
		service := ""
		for _, a := range strings.Split(permits, ", ") {
			a = strings.Trim(a, "`")
			if s, _, full := strings.Cut(a, ":"); full {
				service = s
			} else {
				a = service + ":" + a
			}
			p.actions = append(p.actions, a)
		}
		names := strings.Split(functions, ", ")
		if functions == "all" {
			names = slices.Collect(maps.Values(functionRoles()))
		}
		for _, p.function = range names {
			q := p
			q.actions = slices.Clone(p.actions)
			all = append(all, q)
		}
	}
	return all
}

// follow returns the rows as the template has the permissions: without those that are gone, and with the new ones.
func follow(rows []proven, template []granted) (all []proven) {
	left := map[string][]granted{}
	for _, g := range template {
		if g.function {
			at := g.role + "|" + g.effect + "|" + g.action
			left[at] = append(left[at], g)
		}
	}
	for _, p := range rows {
		p.actions = slices.DeleteFunc(p.actions, func(action string) bool {
			at := p.function + "|" + p.effect + "|" + action
			if len(left[at]) == 0 {
				return true
			}
			left[at] = left[at][1:]
			return false
		})
		if len(p.actions) > 0 {
			all = append(all, p)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(left)) {
		for _, g := range left[at] {
			all = append(all, proven{g.role, g.effect, []string{g.action},
				strings.Join([]string{g.on, g.condition, unproven}, " | ")})
		}
	}
	return all
}

// writeProven writes the rows as the end-to-end tests do.
func writeProven(rows []proven) string {
	by := map[string][]string{}
	for _, f := range topology.Functions {
		for _, p := range rows {
			if p.function == f.Name {
				by[p.cells()] = append(by[p.cells()], f.Name)
			}
		}
	}
	text := "| Functions | May | On | If | Without it |\n|---|---|---|---|---|\n"
	for _, cells := range slices.Sorted(maps.Keys(by)) {
		functions := strings.Join(by[cells], ", ")
		if len(by[cells]) == len(topology.Functions) {
			functions = "all"
		}
		text += "| " + functions + " | " + cells + " |\n"
	}
	return text
}

// The end-to-end tests write the first table, which takes long. Here it is held against the template alone.
func TestTheDocumentNamesThePermissionsOfTheLocalSystem(t *testing.T) {
	text := document(t, permissions)
	const begin, end = "<!-- begin -->\n", "<!-- end -->\n"
	before, rest, _ := strings.Cut(text, begin)
	table, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("testdata/permissions.md has no table of the local system")
	}
	want := before + begin + writeProven(follow(readProven(table), statements(local))) + end + after
	switch {
	case want == text:
	case *update:
		must(os.WriteFile(permissions, []byte(want), 0o644))
	default:
		t.Error("testdata/permissions.md is not of the template: run go test ./infra/app/stack -update -run Permissions")
	}
}
