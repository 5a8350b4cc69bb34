//go:build n8n

package verify

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestN8n builds the package of the n8n node, and runs it in the engine of n8n.
func TestN8n(t *testing.T) {
	dir := t.TempDir()
	folder := copied(t, "clients/n8n", filepath.Join(dir, "package"))
	modules := filepath.Join(tools, "n8n-node", "node_modules")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	command(t, folder, []string{"CI=1"}, filepath.Join(modules, ".bin", "n8n-node"), "build")
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
