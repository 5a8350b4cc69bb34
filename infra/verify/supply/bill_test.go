package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func TestTheBillNamesWhatTheFunctionsContain(t *testing.T) {
	folder := t.TempDir()
	if err := writeBill(t.Context(), filepath.Join("..", "..", ".."), folder); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "functions.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(data), cdx.BOMFileFormatJSON).Decode(&b); err != nil {
		t.Fatal(err)
	}
	found := map[string]cdx.Component{}
	for _, c := range *b.Components {
		found[c.Name] = c
		if c.Version == "" || c.PackageURL == "" || len(*c.Licenses) == 0 || len(*c.Properties) == 0 {
			t.Errorf("%s is incomplete: %+v", c.Name, c)
		}
	}
	for _, name := range []string{"std", "github.com/aws/aws-lambda-go", "github.com/danielgtaylor/huma/v2",
		"@scalar/api-reference", "imageio-ffmpeg", "@expo-google-fonts/noto-sans"} {
		if _, ok := found[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if len(*found["github.com/aws/aws-lambda-go"].Hashes) != 1 {
		t.Error("a module has no checksum")
	}
	// The bill leaves out modules that the functions do not contain.
	for _, name := range []string{"github.com/aws/aws-cdk-go/awscdk/v2", "pgregory.net/rapid"} {
		if _, ok := found[name]; ok {
			t.Errorf("%s is listed", name)
		}
	}
	lines, err := os.ReadFile(filepath.Join(folder, "licences.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "\n"); n != len(*b.Components) {
		t.Errorf("%d lines for %d components", n, len(*b.Components))
	}
	again := t.TempDir()
	if err := writeBill(t.Context(), filepath.Join("..", "..", ".."), again); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(filepath.Join(again, "functions.cdx.json")); err != nil ||
		!bytes.Equal(second, data) {
		t.Errorf("a second bill differs: %v", err)
	}
}

func TestOtherLicencesAreRefused(t *testing.T) {
	good, bad := part{name: "good", licences: []string{"MIT"}},
		part{name: "bad", version: "v1", licences: []string{"MIT", "GPL-3.0"}}
	if err := accepted([]part{good}); err != nil {
		t.Error(err)
	}
	bad.separate = true
	if err := accepted([]part{good, bad}); err == nil {
		t.Error("another version of a licence is accepted")
	}
	bad.separate = false
	if err := accepted([]part{good, bad}); err == nil ||
		!strings.Contains(err.Error(), "bad v1 has the licence GPL-3.0") {
		t.Errorf("%v", err)
	}
}

func TestLicencesAreRecognised(t *testing.T) {
	own, err := licencesIn(filepath.Join("..", "..", ".."))
	if err != nil || !slices.Equal(own, []string{"MIT"}) {
		t.Errorf("the project's own licence is %v, %v", own, err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("All rights reserved."), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := licencesIn(dir); err == nil {
		t.Error("a text that is no known licence is taken for one")
	}
}
