package system

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// imageRegistry is the registry from which SAM gets Lambda's own image.
	imageRegistry = "https://public.ecr.aws/v2/"
	// ownImage is the name of the image that is made if the registry cannot be reached.
	ownImage = "content-automation/lambda-runtime"
)

// runtimeImage returns the image in which SAM runs functions, or "" for AWS's image. If AWS's
// registry cannot be reached, it makes an image. Functions are single binaries, and need only
// SAM's runtime interface emulator and the certificates of this machine.
func runtimeImage(ctx context.Context, sam string) (string, error) {
	if reachable(ctx, imageRegistry) {
		return "", nil
	}
	architecture := Machine().Architecture()
	// SAM's package includes the emulator.
	emulators, err := filepath.Glob(filepath.Join(sam, "lib", "python*", "site-packages", "samcli", "local", "rapid",
		"aws-lambda-rie-"+architecture))
	if err != nil {
		return "", err
	}
	if len(emulators) != 1 {
		return "", fmt.Errorf("%s holds %d runtime interface emulators for %s", sam, len(emulators), architecture)
	}
	emulator, err := os.ReadFile(emulators[0])
	if err != nil {
		return "", err
	}
	content, err := imageContent(emulator, hostCertificates())
	if err != nil {
		return "", err
	}
	// SAM takes an image with this tag for one that it has built itself.
	if _, err := docker(ctx, content, "import", "-", ownImage+":rapid-"+architecture); err != nil {
		return "", err
	}
	return ownImage + ":" + architecture, nil
}

// reachable reports whether a server answers at an address.
func reachable(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil
}

// hostCertificates returns the certificates that this machine trusts, or nil if no known file
// has them.
func hostCertificates() []byte {
	for _, name := range []string{
		os.Getenv("SSL_CERT_FILE"),
		"/etc/ssl/certs/ca-certificates.crt", // Debian, Ubuntu, Arch
		"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora, Amazon Linux
		"/etc/ssl/ca-bundle.pem",             // openSUSE
		"/etc/ssl/cert.pem",                  // Alpine, macOS
	} {
		if text, err := os.ReadFile(name); err == nil {
			return text
		}
	}
	return nil
}

// imageContent returns the files of the image as an archive.
func imageContent(emulator, certificates []byte) ([]byte, error) {
	var content bytes.Buffer
	archive := tar.NewWriter(&content)
	for _, file := range []struct {
		name string
		mode int64
		data []byte
	}{
		{"var/task/", 0o755, nil}, {"var/runtime/", 0o755, nil}, {"opt/", 0o755, nil}, {"tmp/", 0o1777, nil},
		{"var/rapid/aws-lambda-rie", 0o755, emulator},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates},
	} {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.name, Mode: file.mode, Size: int64(len(file.data))}
		if strings.HasSuffix(file.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(file.data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}
