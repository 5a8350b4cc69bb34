package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// layer returns the contents of the layer of the function compose, from the pins in the script
// that makes it. NOTICE has the licences.
func layer(root string) ([]part, error) {
	script, err := os.ReadFile(filepath.Join(root, "infra", "tools", "media-tools.mjs"))
	if err != nil {
		return nil, err
	}
	program := regexp.MustCompile(`const ffmpegVersion = '([\d.]+)'`).FindSubmatch(script)
	library := regexp.MustCompile(`const c2paVersion = '([\d.]+)'`).FindSubmatch(script)
	fonts := regexp.MustCompile(`\['(noto-[a-z-]+)', '([\d.]+)'`).FindAllSubmatch(script, -1)
	if program == nil || library == nil || len(fonts) == 0 {
		return nil, fmt.Errorf("media-tools.mjs names no version of ffmpeg or of the library of C2PA, or no fonts")
	}
	made := func(kind, name, version, licence string) part {
		purl := "pkg:" + kind + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + version
		return part{name: name, version: version, purl: purl, licences: []string{licence},
			functions: []string{"compose"}, separate: true}
	}
	all := []part{made("pypi", "imageio-ffmpeg", string(program[1]), "GPL-3.0-or-later"),
		made("pypi", "c2pa-python", string(library[1]), "MIT")}
	for _, f := range fonts {
		all = append(all, made("npm", "@expo-google-fonts/"+string(f[1]), string(f[2]), "OFL-1.1"))
	}
	return all, nil
}
