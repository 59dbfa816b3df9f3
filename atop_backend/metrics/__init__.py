"""How good generated videos are: PSNR, SSIM, LPIPS, CLIP score and Fréchet video distance."""
