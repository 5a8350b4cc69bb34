package system

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	settings "github.com/content-automation/api/infra/app/customer"
)

// Target is the platform for which the functions are built.
type Target struct{ OS, Arch string }

// Lambda returns the target for AWS's name of an architecture.
func Lambda(architecture string) (Target, error) {
	switch architecture {
	case "arm64":
		return Target{"linux", "arm64"}, nil
	case "x86_64":
		return Target{"linux", "amd64"}, nil
	default:
		return Target{}, fmt.Errorf("the architecture %q is neither arm64 nor x86_64", architecture)
	}
}

// Machine returns the target for this machine, on which the local system runs the functions.
func Machine() Target { return Target{runtime.GOOS, runtime.GOARCH} }

// Architecture returns AWS's name of the target's architecture.
func (t Target) Architecture() string {
	if t.Arch == "amd64" {
		return "x86_64"
	}
	return t.Arch
}

// Dir returns the folder, in the checkout, for the built functions. Each function has its own
// folder with the binary that Lambda starts.
func (t Target) Dir() string {
	if t.OS != "linux" {
		return filepath.Join("build", t.OS+"-"+t.Architecture())
	}
	return filepath.Join("build", t.Architecture())
}

// linked returns the folder, in the checkout, of the linked binaries, by which go build sees
// that they are up to date.
func (t Target) linked() string { return filepath.Join("build", ".linked", filepath.Base(t.Dir())) }

// Build builds every function under functions, and further commands, which stay in the folder
// of linked binaries. It neither links nor writes unchanged binaries again, so that neither the
// CDK nor a zip is made again.
func Build(ctx context.Context, root string, target Target, commands ...string) error {
	release, err := lock(ctx, filepath.Join(root, "build", ".lock"))
	if err != nil {
		return err
	}
	defer release()
	// One go build for all: it compiles their shared packages only once.
	linked := filepath.Join(root, target.linked())
	if err := os.MkdirAll(linked, 0o755); err != nil {
		return err
	}
	if err := Compile(ctx, root, target, linked, append([]string{"./functions/..."}, commands...)...); err != nil {
		return err
	}
	binaries, err := os.ReadDir(linked)
	if err != nil {
		return err
	}
	for _, binary := range binaries {
		name := binary.Name()
		if slices.ContainsFunc(commands, func(c string) bool { return path.Base(c) == name }) {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, "functions", name, "main.go")); err != nil {
			// Remove a function that no longer exists.
			if err := os.Remove(filepath.Join(linked, name)); err != nil {
				return err
			}
			if err := os.RemoveAll(filepath.Join(root, target.Dir(), name)); err != nil {
				return err
			}
			continue
		}
		if err := update(filepath.Join(root, target.Dir(), name, "bootstrap"),
			filepath.Join(linked, name)); err != nil {
			return err
		}
	}
	return nil
}

// Compile builds commands of the checkout into a folder, as functions are built. Each becomes a
// binary with its own name. The same sources give the same binaries, independently of the
// folder and the state of the repository.
func Compile(ctx context.Context, root string, target Target, folder string, packages ...string) error {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+target.OS, "GOARCH="+target.Arch)
	args := []string{"build", "-buildvcs=false", "-tags", "lambda.norpc", "-trimpath", "-ldflags", "-s -w", "-o",
		filepath.Clean(folder) + string(filepath.Separator)}
	log := filepath.Clean(folder) + ".log"
	if err := run(ctx, root, log, env, "go", append(args, packages...)...); err != nil {
		return logged(err, "building "+strings.Join(packages, " "), log)
	}
	return nil
}

// update replaces a file by a copy of another in one step, if they differ.
func update(to, from string) error {
	next, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if last, err := os.ReadFile(to); err == nil && bytes.Equal(last, next) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// Outside the function's folder, because the CDK takes the whole folder.
	temporary := filepath.Dir(to) + ".new"
	if err := os.WriteFile(temporary, next, 0o755); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}

// deployment has the app, the assembly and the CLI of the CDK.
type deployment struct {
	root, dir, cdk string
	region         string
	context        map[string]string
	target         Target
}

// Names of files in the system's folder.
const (
	assembly = "cdk.out"
	outputs  = "outputs.json"
)

// The commands that are built together with the functions, because they share most packages
// with them.
const (
	appCommand       = "./infra"
	providersCommand = "./testdata/providers"
	platformsCommand = "./testdata/fakes/platforms"
)

// synthesise runs the CDK app directly. It need not wait for the CLI, and runs while the
// emulator starts.
func (d deployment) synthesise(ctx context.Context) error {
	app := filepath.Join(d.root, Machine().linked(), "infra") // the app always runs on this machine
	log := filepath.Join(d.dir, "synth.log")
	values, err := d.contextValues()
	if err != nil {
		return err
	}
	stamp, want, err := d.inputs(app, values)
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return nil
	}
	if err := os.Remove(stamp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	env := environment(map[string]string{
		"CDK_OUTDIR":       filepath.Join(d.dir, assembly),
		"CDK_CONTEXT_JSON": values,
		"TMPDIR":           filepath.Join(d.dir, "tmp"),
	})
	if err := run(ctx, d.root, log, env, app); err != nil {
		return logged(err, "synthesising the stacks", log)
	}
	if err := d.prune(); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// inputs returns a fingerprint of all inputs of the assembly, and the file in the assembly
// with the fingerprint of its inputs.
func (d deployment) inputs(app, values string) (stamp, fingerprint string, err error) {
	hash := sha256.New()
	fmt.Fprintln(hash, values)
	files, err := filepath.Glob(filepath.Join(d.root, d.target.Dir(), "*", "bootstrap"))
	if err != nil {
		return "", "", err
	}
	for _, name := range append(files, app) {
		fmt.Fprintln(hash, name)
		file, err := os.Open(name)
		if err != nil {
			return "", "", err
		}
		_, err = io.Copy(hash, file)
		_ = file.Close()
		if err != nil {
			return "", "", err
		}
	}
	return filepath.Join(d.dir, assembly, ".inputs"), hex.EncodeToString(hash.Sum(nil)), nil
}

// contextValues returns the values of cdk.json, with those that the local system and its
// caller set.
func (d deployment) contextValues() (string, error) {
	data, err := os.ReadFile(filepath.Join(d.root, "cdk.json"))
	if err != nil {
		return "", err
	}
	var config struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("reading cdk.json: %w", err)
	}
	values := config.Context
	maps.Copy(values, map[string]any{
		"customer": customer,
		"region":   d.region,
		"arch":     d.target.Architecture(),
		"assets":   filepath.Join(d.root, d.target.Dir()),
		// The folder of ffmpeg and the fonts, for which other deployments have a layer.
		"localTools": filepath.Join(d.root, ".tools", "media"),
		// The zips are made directly from the folders of the built functions.
		"aws:cdk:disable-asset-staging": true,
		// SAM finds the code by this metadata.
		"aws:cdk:enable-asset-metadata": true,
	})
	for name, value := range d.context {
		values[name] = value
	}
	out, err := json.Marshal(values)
	return string(out), err
}

// prune removes the zips of earlier builds of functions.
func (d deployment) prune() error {
	out := filepath.Join(d.dir, assembly)
	manifests, err := filepath.Glob(filepath.Join(out, "*.assets.json"))
	if err != nil {
		return err
	}
	var used strings.Builder
	for _, name := range manifests {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		used.Write(data)
	}
	zips, err := filepath.Glob(filepath.Join(out, ".cache", "*.zip"))
	if err != nil {
		return err
	}
	for _, zip := range zips {
		if hash := strings.TrimSuffix(filepath.Base(zip), ".zip"); !strings.Contains(used.String(), hash) {
			if err := os.Remove(zip); err != nil {
				return err
			}
		}
	}
	return nil
}

// bootstrap makes the resources that the CDK needs in an account before it can deploy.
func (d deployment) bootstrap(ctx context.Context, endpoint string) error {
	return d.cli(ctx, endpoint, "bootstrap", "aws://"+awsAccount+"/"+d.region)
}

// deploy deploys the stacks for the API at base, and returns their outputs in one map. The stacks
// have no output names in common.
func (d deployment) deploy(ctx context.Context, endpoint, base string) (map[string]string, error) {
	file := filepath.Join(d.dir, outputs)
	api := customer + "-" + stage + "-" + d.region + "-api:"
	err := d.cli(ctx, endpoint, "deploy", "--all", "--parameters", api+settings.BaseURLParameter+"="+base,
		"--parameters", api+settings.SignInURLParameter+"="+endpoint, "--require-approval", "never", "--app",
		filepath.Join(d.dir, assembly),
		"--method", "direct", "--concurrency", "2", "--progress", "events", "--outputs-file", file)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(data, &stacks); err != nil {
		return nil, fmt.Errorf("reading the outputs of the stacks: %w", err)
	}
	all := map[string]string{}
	for _, values := range stacks {
		maps.Copy(all, values)
	}
	return all, nil
}

func (d deployment) cli(ctx context.Context, endpoint, command string, args ...string) error {
	log := filepath.Join(d.dir, command+".log")
	env := environment(map[string]string{
		"AWS_ENDPOINT_URL":            endpoint,
		"AWS_REGION":                  d.region,
		"AWS_ACCESS_KEY_ID":           awsKey,
		"AWS_SECRET_ACCESS_KEY":       awsKey,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"CDK_DISABLE_CLI_TELEMETRY":   "true",
		"TMPDIR":                      filepath.Join(d.dir, "tmp"),
	})
	args = append([]string{command, "--no-notices", "--no-version-reporting", "--ci", "--no-color"}, args...)
	// Outside the checkout, whose cdk.json names its own app and build.
	if err := run(ctx, d.dir, log, env, d.cdk, args...); err != nil {
		return logged(err, "cdk "+command, log)
	}
	return nil
}
