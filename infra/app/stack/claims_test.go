package stack_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/permissions.md")

// document returns the text of a document.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
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
	deploying, security := document(t, "deploying.md"), document(t, "security.md")
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

// The template of the local system, from which the end-to-end tests write the first table of docs/permissions.md, has
// neither Cognito nor a guardrail, a network, a replica or releases. The second table has what the other customers'
// templates permit or deny beyond it.
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
	text := document(t, "permissions.md")
	const begin, end = "<!-- begin others -->\n", "<!-- end others -->\n"
	before, rest, _ := strings.Cut(text, begin)
	_, after, ok := strings.Cut(rest, end)
	want := before + begin + "| Roles | May | On | If | Customers |\n|---|---|---|---|---|\n" + strings.Join(lines, "") + end +
		after
	switch {
	case !ok:
		t.Fatal("docs/permissions.md has no table of other customers")
	case *update:
		must(os.WriteFile(filepath.Join("..", "..", "..", "docs", "permissions.md"), []byte(want), 0o644))
	case want != text:
		t.Error("docs/permissions.md is out of date: run go test ./infra/app/stack -update -run Permissions")
	}
}
