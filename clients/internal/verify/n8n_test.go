//go:build n8n

package verify

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestN8n builds and lints the package of the n8n node with the tools of n8n, and runs it in the engine of n8n.
func TestN8n(t *testing.T) {
	dir := t.TempDir()
	folder := copied(t, "clients/n8n", filepath.Join(dir, "package"))
	modules := filepath.Join(tools, "n8n-node", "node_modules")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"build", "lint"} {
		// A warning is in the sum of problems, too.
		out := command(t, folder, []string{"CI=1"}, filepath.Join(modules, ".bin", "n8n-node"), do)
		if strings.Contains(out, "problem") {
			t.Errorf("%s: %s", do, out)
		}
	}
	packed := command(t, folder, nil, "npm", "pack", "--dry-run", "--json")
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "workflows/row-to-media.json",
		"dist/icons/contentAutomation.svg", "dist/credentials/ContentAutomationApi.credentials.js",
		"dist/nodes/ContentAutomationTrigger/ContentAutomationTrigger.node.json"} {
		if !strings.Contains(packed, `"path": "`+name+`"`) {
			t.Errorf("the package lacks %s", name)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 256, 256))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "picture.png"), picture.String())
	for _, file := range []string{"node", "trigger", "workflows"} {
		b := serve(t)
		env := []string{"BASE_URL=" + b.URL, "SVC_TEST_KEY=" + b.Key, "PACKAGE=" + folder, "N8N_USER_FOLDER=" + dir,
			"N8N_ENCRYPTION_KEY=of-this-test", "PICTURE=" + filepath.Join(dir, "picture.png"),
			"WORKFLOWS=" + filepath.Join(root, "clients", "n8n", "workflows")}
		t.Log(command(t, dir, env, "node", "--test", filepath.Join(root, "clients/internal/verify/n8n", file+".test.mjs")))
	}
}
