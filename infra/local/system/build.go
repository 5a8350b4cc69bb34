package system

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
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
