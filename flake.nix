{
  description = "yoi: a file-based ticket orchestrator daemon";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEach = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEach (pkgs: rec {
        yoi = pkgs.callPackage ./package.nix { };
        default = yoi;
      });

      checks = forEach (pkgs: {
        tests = pkgs.callPackage ./package.nix { runTests = true; };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell {
          inputsFrom = [ self.packages.${pkgs.stdenv.hostPlatform.system}.yoi ];
          packages = [
            pkgs.clippy
            pkgs.rustfmt
            pkgs.rust-analyzer
            pkgs.git
          ];
        };
      });

      overlays.default = final: _: { yoi = final.callPackage ./package.nix { }; };
    };
}
