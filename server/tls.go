package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/stint-run/stint/server/bounded"
)

// maxPEM bounds the file of a certificate chain or of a key, in bytes.
const maxPEM = 1 << 20

// TLS is what a listener needs to serve HTTPS with the certificate chain and the
// key of those PEM files: TLS 1.2 or newer, and HTTP/2. The files are read again
// when they change, so that a renewed certificate needs no restart; while they
// do not fit together, the pair of before serves on.
func TLS(certFile, keyFile string, log *slog.Logger) (*tls.Config, error) {
	p := &pair{certFile: certFile, keyFile: keyFile, log: log}
	var err error
	if p.read, err = p.stamp(); err == nil {
		err = p.load()
	}
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.get}, nil
}

// pair is a certificate and its key, as they were last read.
type pair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu   sync.Mutex
	cert *tls.Certificate
	read [2]version // of the files when they were last read, well or not
}

// version tells one content of a file from another.
type version struct {
	changed, size int64
}

func (p *pair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, err := p.stamp()
	if err == nil && now == p.read {
		return p.cert, nil
	}
	if err == nil {
		p.read = now
		err = p.load()
	}
	if err != nil {
		p.log.Warn("the new certificate cannot be used; the one of before serves on", "error", err)
	} else {
		p.log.Info("read the certificate again", "file", p.certFile)
	}
	return p.cert, nil
}

func (p *pair) load() error {
	chain, err := bounded.File(p.certFile, maxPEM)
	if err != nil {
		return err
	}
	key, err := bounded.File(p.keyFile, maxPEM)
	if err != nil {
		return err
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err == nil {
		p.cert = &cert
	}
	return err
}

func (p *pair) stamp() (at [2]version, err error) {
	for i, name := range []string{p.certFile, p.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return at, err
		}
		if !info.Mode().IsRegular() { // a pipe that nobody writes to would hold every handshake
			return at, fmt.Errorf("%s is not a regular file", name)
		}
		at[i] = version{info.ModTime().UnixNano(), info.Size()}
	}
	return at, nil
}
